// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// The next reconcile comes after the shortest time that a step has asked for.
func TestRequeueAfter(t *testing.T) {
	for _, test := range []struct{ first, second, want time.Duration }{
		{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {1, 2, 1}, {-1, 2, 2}, {2, -1, 2},
	} {
		plan, p := newPlanner()
		p.RequeueAfter(test.first)
		p.RequeueAfter(test.second)
		if plan.RequeueAfter != test.want {
			t.Errorf("after %d and %d ns: in %d ns, want %d", test.first, test.second, plan.RequeueAfter, test.want)
		}
	}
}

// What is to come asks for a reconcile; what has come does not.
func TestDue(t *testing.T) {
	for _, test := range []struct {
		in    time.Duration
		comes bool
		want  bool
		again time.Duration
	}{{0, true, true, 0}, {-time.Second, true, true, 0}, {1, true, false, 1}, {time.Second, true, false, time.Second}, {time.Second, false, false, 0}, {0, false, false, 0}} {
		plan, p := newPlanner()
		if got := p.Due(test.in, test.comes); got != test.want || plan.RequeueAfter != test.again {
			t.Errorf("in %s, comes %t: %t, again in %s", test.in, test.comes, got, plan.RequeueAfter)
		}
	}
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

// An update that takes a pod out of service says that it waits for the budget which has refused it before. (CT-10)
func TestFinishAwaitsBudgets(t *testing.T) {
	for name, test := range map[string]struct {
		view View
		want bool
	}{
		"an update":             {View{ForUpdate: true}, true},
		"one that disturbs not": {View{ForUpdate: true, inService: true}, false},
		"another patch":         {View{}, false},
		"one that follows":      {View{ForUpdate: true, Otherwise: true}, false},
	} {
		plan, p := newPlanner()
		p.Refusals.Denied = map[types.UID]rollout.Denial{"web-0": {Budget: "web"}}
		test.view.Pod, test.view.Patch = pod("shop", "web-0", "1"), &podpatch.Patch{}
		test.view.Pod.UID = "web-0"
		test.view.Patch.SetLabel("a", "b")
		p.Finish(&test.view)
		if (len(plan.Waiting) > 0) != test.want {
			t.Errorf("%s: waits for %v", name, plan.Waiting)
		}
	}
}

// A pod is patched if that changes it, unless it is deleted.
func TestFinish(t *testing.T) {
	changes := func() *podpatch.Patch { p := &podpatch.Patch{}; p.SetLabel("a", "b"); return p }
	for name, test := range map[string]struct {
		view            View
		first, followup int
	}{
		"no patch":                 {View{}, 0, 0},
		"a patch":                  {View{Patch: changes()}, 1, 0},
		"for the case of refusals": {View{Patch: changes(), Otherwise: true}, 0, 1},
		"nothing changes":          {View{Patch: &podpatch.Patch{}}, 0, 0},
		"the pod is deleted":       {View{Patch: changes(), Deleted: true}, 0, 0},
	} {
		plan, p := newPlanner()
		test.view.Pod = pod("shop", "web-0", "1")
		p.Finish(&test.view)
		if len(plan.Patch) != test.first || len(plan.Otherwise.Patch) != test.followup {
			t.Errorf("%s: %d patches, and %d otherwise", name, len(plan.Patch), len(plan.Otherwise.Patch))
		}
	}
}
