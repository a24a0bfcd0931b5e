// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Whatever stands in the annotations, the plan is the same each time. A container is
// stopped only once that is written down. A container of which a controller has not told
// does not count as recreated.
func FuzzAnnotations(f *testing.F) {
	f.Add("", "")
	f.Add(`[{"name":"main","ready":true,"restartCount":1,"containerID":"containerd://m2"}]`, now.Format(time.RFC3339))
	f.Add(`[{"name":"main","ready":true`, "yesterday")
	f.Add(`[null,{"name":"side","ready":true,"containerID":"containerd://s1"}]`, "0001-01-01T00:00:00Z")
	f.Add(`{}`, "9999-12-31T23:59:59Z")
	f.Fuzz(func(t *testing.T, statuses, time string) {
		s := running("main m2", "side s1")
		s.Requests = []*v1alpha1.ContainerRecreateRequest{newRequest("r", "unready=5", "synced="+statuses, "acquired-at="+time)}
		plan := NewPlan(s)
		if diff := cmp.Diff(show(plan), show(NewPlan(s))); diff != "" {
			t.Errorf("another plan for the same snapshot (-first +second):\n%s", diff)
		}
		if plan.Write == nil {
			t.Fatal("a new request is not answered")
		}
		for _, c := range plan.Write.Status.ContainerRecreateStates {
			if c.Name == "side" && c.Phase == succeeded {
				t.Errorf("side is %s, and was not stopped", showState(c))
			}
		}
		if plan.Stop != nil && (plan.Stop.ID != "s1" || showState(plan.Write.Status.ContainerRecreateStates[1]) != "side Pending") {
			t.Errorf("plan %v", show(plan))
		}
	})
}
