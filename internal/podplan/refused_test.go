// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
)

var errRefused = errors.New("refused")

// Refused updates are reported until all pods that they were for are to stay at their revision. (IP-39)
func TestRefusalsAreReported(t *testing.T) {
	partition, others := &rollout.Reason{Rule: rollout.RulePartition}, &rollout.Reason{Rule: rollout.RuleRefused}
	for _, test := range []struct {
		name    string
		waiting map[string]*rollout.Reason
		refused []types.UID
		want    bool
	}{
		{"nothing waits", nil, []types.UID{"a"}, true},
		{"the partition leaves it", map[string]*rollout.Reason{"a": partition}, []types.UID{"a"}, false},
		{"there are enough others", map[string]*rollout.Reason{"a": {Rule: rollout.RuleReplicas}}, []types.UID{"a"}, false},
		{"it waits for something else", map[string]*rollout.Reason{"a": others}, []types.UID{"a"}, true},
		{"the partition leaves another one", map[string]*rollout.Reason{"b": partition}, []types.UID{"a"}, true},
		{"the partition leaves one of two", map[string]*rollout.Reason{"a": partition, "b": others}, []types.UID{"a", "b"}, true},
		{"the partition leaves both", map[string]*rollout.Reason{"a": partition, "b": partition}, []types.UID{"a", "b"}, false},
	} {
		plan, p := newPlanner()
		p.Refusals = rollout.Refusals{Err: errRefused, Pods: map[types.UID]error{}}
		for _, uid := range test.refused {
			p.Refusals.Pods[uid] = errRefused
		}
		for name, reason := range test.waiting {
			waits := pod("shop", name, "1")
			waits.UID = types.UID(name)
			p.Wait(waits, reason)
		}
		p.Wait(nil, partition) // of a pod that is not created yet
		p.UpdateProblem(errors.New("another"))
		p.PlanRefusals()
		if got := errors.Is(plan.Problems[0].Err, errRefused); got != test.want || len(plan.Problems) != map[bool]int{false: 1, true: 2}[test.want] {
			t.Errorf("%s: problems %v, want the refusal first: %t", test.name, plan.Problems, test.want)
		}
	}
}

// A resize waits while it, or another update, was refused a moment ago. (IP-39)
func TestResizesWait(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		name      string
		until     time.Duration
		refused   error
		off       bool
		unresized string
		want      string
		again     time.Duration
	}{
		{"nothing was refused", 0, nil, false, "", "", 0},
		{"it was refused a moment ago", time.Minute, errRefused, false, "", "refused", time.Minute},
		{"it was refused, and it is time", 0, errRefused, false, "", "", 0},
		{"another one was refused a moment ago", time.Minute, nil, false, "", "the API server has refused another update a moment ago", time.Minute},
		{"it never gets what it asks for", time.Minute, nil, false, "too small", "too small", 0},
		{"the feature is off", time.Minute, nil, true, "too small", errResizeOff.Error(), 0},
	} {
		plan, p := newPlanner()
		p.At, p.Workload.InPlace.Resize = now, !test.off
		p.Refusals.Until = now.Add(test.until)
		view := &View{Pod: pod("shop", "web-0", "1"), unresized: test.unresized}
		view.UID = "web-0"
		if test.refused != nil {
			p.Refusals.Pods = map[types.UID]error{"web-0": test.refused}
		}
		var none podpatch.Patch
		if reason := p.holdResize(view, &none); reason != nil {
			t.Errorf("%s: without a resize, it waits for %s", test.name, reason)
		}
		var patch podpatch.Patch
		patch.SetResources("main", corev1.ResourceRequirements{Requests: corev1.ResourceList{}})
		got := ""
		if reason := p.holdResize(view, &patch); reason != nil {
			got = reason.Message
		}
		if got != test.want || plan.RequeueAfter != test.again || (patch.Resources == nil) != (test.want != "") {
			t.Errorf("%s: it waits for %q and looks again in %s, resources %v; want %q and %s", test.name, got, plan.RequeueAfter, patch.Resources, test.want, test.again)
		}
	}
}
