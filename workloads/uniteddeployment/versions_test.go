// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UD-10.3: what is removed from a workload depends on what was read of it: the patch holds for that version alone.
func TestUpdatesHoldForWhatWasRead(t *testing.T) {
	w := newWorld(t, newSet(t))
	w.settle()
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "nginx:2" })
	plan := NewPlan(&w.Snapshot)
	if len(plan.Update) == 0 {
		t.Fatalf("plan %v", plan)
	}
	live := plan.Update[0].Child.Object.(*v1alpha1.CloneSet).DeepCopy()
	live.ResourceVersion = "77"
	data, err := json.Marshal(live)
	w.must(err)
	data, err = plan.Update[0].updatePatch(data)
	w.must(err)
	if !contains(string(data), `"resourceVersion":"77"`, fmt.Sprintf(`"uid":%q`, live.UID)) {
		t.Errorf("patch %s", data)
	}
}
