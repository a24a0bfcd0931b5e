// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// TestOrdinals shows in testdata/ordinals.txt which ordinals are reserved, and which are wanted then. Behind these stand the ranks of the
// first ordinals, each with an x if it is reserved.
func TestOrdinals(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/ordinals.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSpace(line)
			text, start, n := line, 0, 0
			if before, rest, found := strings.Cut(line, " of "); found {
				var from string
				text, from, _ = strings.Cut(rest, " from ")
				if _, err := fmt.Sscan(before+" "+from, &n, &start); err != nil {
					t.Fatal(err)
				}
			}
			var list []intstr.IntOrString
			if err := yaml.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			r, err := ParseReserved(list)
			fmt.Fprintf(&out, "%s: ", line)
			if d.Cmd == "wanted" {
				wanted, end := r.Wanted(start, n)
				if got := r.End(start, n); got != end && len(wanted) == n {
					t.Errorf("%s: they end at %d", line, got)
				}
				fmt.Fprint(&out, wanted, end, ", ranks")
				for ordinal := start; ordinal < start+9; ordinal++ {
					fmt.Fprint(&out, " ", r.Rank(start, ordinal), map[bool]string{true: "x"}[r.Contains(ordinal)])
				}
				fmt.Fprintln(&out)
				continue
			}
			fmt.Fprint(&out, r)
			if err != nil {
				fmt.Fprintf(&out, ", %v", err)
			}
			fmt.Fprintln(&out)
		}
		return out.String()
	})
}
