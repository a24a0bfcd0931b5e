// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table of metrics has those of the library, as the manager and the agent serve them, with their labels, and no others.
func TestMetrics(t *testing.T) {
	ours := regexp.MustCompile(`(?m)^((?:podwright|kruise)_\w+|controller_runtime_reconcile_(?:total|errors_total|time_seconds))\{(.*)\}$`)
	served, told := map[string]string{}, map[string]string{}
	for _, program := range []string{"manager.txt", "nodeagent.txt"} {
		for _, found := range ours.FindAllStringSubmatch(read(t, examples, "monitoring", "testdata", program), -1) {
			served[found[1]] = found[2]
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+_\\w+)`(?: by ([\\w, ]+))? \\| .+ \\|$").FindAllStringSubmatch(read(t, examples, "OPERATING.md"), -1) {
		told[row[1]] = regexp.MustCompile(", ").ReplaceAllString(row[2], ",")
	}
	if diff := cmp.Diff(served, told); diff != "" {
		t.Errorf("metrics in OPERATING.md (-served +told):\n%s", diff)
	}
	if len(served) < 40 {
		t.Errorf("few metrics are known: %v", slices.Sorted(maps.Keys(served)))
	}
}
