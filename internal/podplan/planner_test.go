// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"testing"
	"time"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

// The next reconcile comes after the shortest time that a step has asked for.
func TestRequeueAfter(t *testing.T) {
	for _, test := range []struct{ first, second, want time.Duration }{
		{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {2, 1, 1}, {1, 2, 1}, {-1, 2, 2}, {2, -1, 2},
	} {
		plan := &rollout.Plan{}
		p := NewPlanner(plan, "Failed")
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
	}{{0, true, true, 0}, {-time.Second, true, true, 0}, {time.Second, true, false, time.Second}, {time.Second, false, false, 0}, {0, false, false, 0}} {
		plan := &rollout.Plan{}
		p := NewPlanner(plan, "Failed")
		if got := p.Due(test.in, test.comes); got != test.want || plan.RequeueAfter != test.again {
			t.Errorf("in %s, comes %t: %t, again in %s", test.in, test.comes, got, plan.RequeueAfter)
		}
	}
}

// A pod is patched where that changes it, unless it is deleted.
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
		plan := &rollout.Plan{}
		p := NewPlanner(plan, "Failed")
		test.view.Pod = pod("shop", "web-0", "1")
		p.Finish(&test.view)
		if len(plan.Patch) != test.first || len(plan.Otherwise.Patch) != test.followup {
			t.Errorf("%s: %d patches, and %d otherwise", name, len(plan.Patch), len(plan.Otherwise.Patch))
		}
	}
}
