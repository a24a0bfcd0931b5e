// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// CT-8, CS-E12: a node that rejects each pod costs few pods, a condition says why, and another template is tried at once.
func TestPodsThatKubeletsReject(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3")
	reject := func() {
		for _, pod := range w.Pods {
			w.Edit(pod.Name, func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "OutOfcpu" })
		}
	}
	var plan *Plan
	for range 600 {
		plan = NewPlan(w.snapshot())
		w.apply(plan)
		reject()
		w.Now = w.Now.Add(time.Second)
	}
	if n := len(w.Pods); n < 12 || n > 40 {
		t.Errorf("%d pods were created in 10 minutes, want 12 to 40", n)
	}
	if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), "before any container has run (OutOfcpu)") || plan.Problems[0].Condition != failedScale {
		t.Errorf("problems %v", plan.Problems)
	}
	if len(plan.Waiting) != 1 || plan.Waiting[0].Reason.Rule != rollout.RuleBackOff || plan.RequeueAfter <= 0 || plan.RequeueAfter > 5*time.Minute {
		t.Errorf("waiting %v, again after %s", plan.Waiting, plan.RequeueAfter)
	}
	before := len(w.Pods)
	w.Spec("image=nginx:2")
	w.settle()
	if created := len(w.Pods) - before; created != 3 {
		t.Errorf("%d pods of another template are created at once, want 3", created)
	}
}
