// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"testing"

	"github.com/podwright/podwright/internal/testing/planbench"
)

// BenchmarkPlan plans for n namespaces: with a copy in each, with none, or with all of them missing or terminating.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		name         string
		does, failed func(n int) int
	}{
		{"settled", noneOf, noneOf},
		{"new", allOf, noneOf},
		{"terminating", noneOf, allOf},
	} {
		planbench.Run(b, test.name, func(b *testing.B, n int) func() error {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("team-%d", i)
			}
			s := &Snapshot{Distribution: newDistribution(b, secretYAML, "allNamespaces: true"), Namespaces: namespaces(names...), Now: noon}
			switch test.name {
			case "settled":
				s.Copies = stored(NewPlan(s).Create...)
			case "terminating":
				terminating(s.Namespaces)
			}
			return func() error {
				p := NewPlan(s)
				p.Status(p.Failed, noon)
				if does := len(p.Create) + len(p.Update) + len(p.Delete); does != test.does(n) || len(p.Failed) != test.failed(n) || len(p.Problems) > 0 {
					return fmt.Errorf("the plan does %d things, %d failed; problems %v", does, len(p.Failed), p.Problems)
				}
				return nil
			}
		})
	}
}

func noneOf(int) int  { return 0 }
func allOf(n int) int { return n }
