// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
)

var errRefused = errors.New("refused")

// Refused updates are reported until all pods that they were for are to stay at their revision. (IP-39)
func TestRefusalsAreReported(t *testing.T) {
	type row struct {
		Waiting map[string]rollout.Rule
		Refused []types.UID
	}
	patches.PlayRows(t, "testdata/reported.txt", nil, func(_ *testing.T, _ string, r *row) string {
		plan, p := newPlanner()
		p.Refusals = rollout.Refusals{Err: errRefused, Pods: map[types.UID]error{}}
		for _, uid := range r.Refused {
			p.Refusals.Pods[uid] = errRefused
		}
		for name, rule := range r.Waiting {
			waits := pod("shop", name, "1")
			waits.UID = types.UID(name)
			p.Wait(waits, &rollout.Reason{Rule: rule})
		}
		p.Wait(nil, &rollout.Reason{Rule: rollout.RulePartition}) // of a pod that is not created yet
		p.UpdateProblem(errors.New("another"))
		p.PlanRefusals()
		return fmt.Sprint(plan.Problems)
	})
}

// A resize waits while it, or another update, was refused a moment ago. (IP-39)
func TestResizesWait(t *testing.T) {
	type row struct {
		Until             metav1.Duration
		Refused, Disabled bool
		Unresized         string
	}
	patches.PlayRows(t, "testdata/resizes.txt", nil, func(t *testing.T, _ string, r *row) string {
		plan, p := newPlanner()
		p.At, p.Workload.InPlace.Resize = time.Unix(1000, 0), !r.Disabled
		p.Refusals.Until = p.At.Add(r.Until.Duration)
		view := &View{Pod: pod("shop", "web-0", "1"), unresized: r.Unresized}
		if view.UID = "web-0"; r.Refused {
			p.Refusals.Pods = map[types.UID]error{"web-0": errRefused}
		}
		if reason := p.holdResize(view, &podpatch.Patch{}); reason != nil {
			t.Errorf("without a resize, it waits for %s", reason)
		}
		var patch podpatch.Patch
		patch.SetResources("main", corev1.ResourceRequirements{Requests: corev1.ResourceList{}})
		reason := p.holdResize(view, &patch)
		if (patch.Resources == nil) != (reason != nil) {
			t.Errorf("resources %v, and it waits for %v", patch.Resources, reason)
		}
		if reason == nil {
			return fmt.Sprintf("resizes, again in %s", plan.RequeueAfter)
		}
		return fmt.Sprintf("%s, again in %s", reason.Message, plan.RequeueAfter)
	})
}
