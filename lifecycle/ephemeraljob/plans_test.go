// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/types"
)

// TestPlans plans for single states of the world, which the files in testdata/plans describe:
//
//	plan pods…     what is done, which pods wait for what, and what is wrong
//	status pods…   the conditions and results of the status that is written
//
// How pods are written says place. Fields of the job follow as YAML. With idle=2m the first pod has made no progress for so long.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var pods, lines []string
			idle := map[types.UID]time.Time{}
			for _, arg := range d.CmdArgs {
				if arg.Key != "idle" {
					pods = append(pods, arg.Key)
					continue
				}
				ago, err := time.ParseDuration(arg.Vals[0])
				if err != nil {
					t.Fatal(err)
				}
				idle["p1"] = noon.Add(-ago)
			}
			s := place(t, jobOf(t, d.Input), strings.Join(pods, " "))
			s.Idle = idle
			plan := NewPlan(s)
			if d.Cmd == "status" {
				for _, c := range conditions(plan.Status) {
					lines = append(lines, strings.TrimSpace(c))
				}
				for _, r := range plan.Status.PodResults {
					lines = append(lines, strings.TrimSpace(fmt.Sprintf("result of %s, %s: %s %s", r.Pod, r.Container, r.Reason, r.Message)))
				}
			} else {
				lines = append(lines, show(plan))
				for _, w := range plan.Waiting {
					lines = append(lines, "wait "+w.String())
				}
				for _, p := range plan.Problems {
					lines = append(lines, "problem: "+p.Err.Error())
				}
			}
			return strings.TrimPrefix(strings.TrimSpace(strings.Join(lines, "\n"))+"\n", "\n")
		})
	})
}
