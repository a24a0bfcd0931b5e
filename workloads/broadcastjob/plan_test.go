// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// TestPlans shows the plans for the states in testdata/plans.txt: nodes and pods in the notation of place, and lines of the job, see jobOf. deleted is
// how many pods went a second ago. refused names the node of a pod that could not be deleted. After "pod" the first pod is shown that is created,
// which may be direct, on nodes of the zone a.
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := placeOf(t, d)
		deleted, refused := 0, ""
		if d.HasArg("deleted") {
			d.ScanArgs(t, "deleted", &deleted)
		}
		if d.HasArg("refused") {
			d.ScanArgs(t, "refused", &refused)
		}
		s.Deleted = slices.Repeat([]time.Time{noon.Add(-time.Second)}, deleted)
		for _, pod := range s.Pods {
			if scheduler.NodeOf(pod) == refused {
				s.NotDeleted = map[types.UID]bool{pod.UID: true}
			}
		}
		if d.Cmd == "pod" {
			return madePod(t, s, d.HasArg("direct"))
		}
		plan := NewPlan(s)
		text := show(plan)
		if text != "" {
			text += "\n"
		}
		if n := len(plan.Waiting); n > 0 {
			text += fmt.Sprintf("%d wait: %s\n", n, plan.Waiting[0].Reason.Rule)
		}
		return text
	})
}

// madePod shows the first pod that is created.
func madePod(t *testing.T, s *Snapshot, direct bool) string {
	t.Helper()
	s.AssignDirectly = direct
	for _, node := range s.Nodes {
		node.Labels = map[string]string{"zone": "a"}
	}
	before := s.Job.DeepCopy()
	data, err := yaml.Marshal(NewPlan(s).Create[0].Pod)
	if diff := cmp.Diff(before, s.Job); diff != "" || err != nil {
		t.Errorf("error %v, the job has changed (-before +after):\n%s", err, diff)
	}
	return string(data)
}

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 {
			t.Errorf("problems %v, want one", plan.Problems)
		}
	}
}
