// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

// The next reconcile comes after the shortest time that a step has asked for. What is to come asks for one; what has come does not.
func TestRequeueAfter(t *testing.T) {
	type row struct {
		Asked []metav1.Duration
		In    metav1.Duration
		Comes bool
	}
	patches.PlayRows(t, "testdata/requeue.txt", nil, func(_ *testing.T, command string, r *row) string {
		plan, p := newPlanner()
		if command == "due" {
			due := p.Due(r.In.Duration, r.Comes)
			return fmt.Sprintf("%t, again in %s", due, plan.RequeueAfter)
		}
		for _, after := range r.Asked {
			p.RequeueAfter(after.Duration)
		}
		return plan.RequeueAfter.String()
	})
}

// Problems of pods are named by the condition for updates.
func TestPodProblem(t *testing.T) {
	plan, p := newPlanner()
	p.PodProblem(&View{Pod: pod("shop", "web-0", "1")}, errRefused)
	p.Problem("Other", nil)
	if len(plan.Problems) != 1 || plan.Problems[0].Condition != "Failed" || plan.Problems[0].Err.Error() != "pod web-0: refused" {
		t.Errorf("problems %v", plan.Problems)
	}
	if p.InOtherwise() {
		t.Error("the first stage is the other one")
	}
	if p.Stage = &plan.Otherwise; !p.InOtherwise() {
		t.Error("the other stage is not")
	}
}

// A pod is patched if that changes it, unless it is deleted. An update that takes a pod out of service says that it waits for the
// budget which has refused it before. (CT-10)
func TestFinish(t *testing.T) {
	type row struct {
		Patch                                    bool
		Label                                    string // that the patch sets
		ForUpdate, InService, Otherwise, Deleted bool
	}
	patches.PlayRows(t, "testdata/finish.txt", nil, func(_ *testing.T, _ string, r *row) string {
		plan, p := newPlanner()
		p.Refusals.Denied = map[types.UID]rollout.Denial{"web-0": {Budget: "web"}}
		view := View{Pod: pod("shop", "web-0", "1"), ForUpdate: r.ForUpdate, inService: r.InService, Otherwise: r.Otherwise, Deleted: r.Deleted}
		if view.UID = "web-0"; r.Patch {
			view.Patch = &podpatch.Patch{}
		}
		if r.Label != "" {
			view.Patch.SetLabel("a", r.Label)
		}
		p.Finish(&view)
		return fmt.Sprintf("%d patches, %d otherwise, %d wait", len(plan.Patch), len(plan.Otherwise.Patch), len(plan.Waiting))
	})
}
