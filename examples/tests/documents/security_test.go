// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHostileTenants wants a line in the table of SECURITY.md for each kind that a tenant may create: what its author may try against
// others, what comes of it, and the test that holds it. Workloads share theirs. Nodes' objects are the controllers' and the agents'.
func TestHostileTenants(t *testing.T) {
	lines := map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([\w ]+) \| ([^|]+) \| ([^|]+) \| \[[tT]est[^|]+ \|$`).FindAllStringSubmatch(read(t, repository, "SECURITY.md"), -1) {
		lines[row[1]]++
	}
	for kind, of := range types(t) {
		line := kind
		switch {
		case slices.Contains([]string{"NodeImage", "NodePodProbe"}, kind):
			continue
		case kind == "SidecarSet": // of the cluster: its author may create pods in all namespaces
			continue
		case strings.HasPrefix(of.PkgPath(), "github.com/podwright/podwright/workloads/"):
			line = "any workload"
		}
		if lines[line] == 0 {
			t.Errorf("SECURITY.md has no line about a hostile author of a %s in its table, or none that cites a test", kind)
		}
		delete(lines, kind)
	}
	delete(lines, "any workload")
	for kind := range lines {
		t.Errorf("SECURITY.md has a line about a %s, which is no kind of ours", kind)
	}
}
