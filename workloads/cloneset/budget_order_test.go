// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// exhausted refuses the pods that a label marks, as a budget does that allows nothing, and counts how often it is asked.
type exhausted struct {
	free  bool
	asked map[string]int
}

func (b *exhausted) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.asked[pod.Labels["budget"]]++
	return b.free || pod.Labels["budget"] != "exhausted", nil
}

// TestBudgetsDoNotHoldOneAnother: CT-10. The pods of a budget that allows nothing, which come first in the order, do not keep
// those of another one from their update. They are asked about once a second, and updated when the budget allows it.
func TestBudgetsDoNotHoldOneAnother(t *testing.T) {
	for _, test := range []struct {
		name, update string
		named        bool   // pods name their budgets
		within       string // after which the pods of the other budget are updated
	}{
		{"CT-10: in place", `{"type":"InPlaceIfPossible","maxUnavailable":1}`, true, "10s"},
		{"CT-10: by recreation", `{"type":"ReCreate","maxUnavailable":1}`, true, "10s"},
		{"CT-10: several at once", `{"type":"InPlaceIfPossible","maxUnavailable":2}`, true, "10s"},
		{"CT-10: budgets that pods do not name", `{"type":"InPlaceIfPossible","maxUnavailable":1}`, false, "20s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				budget := &exhausted{asked: map[string]int{}}
				c.options.Budget = budget
				c.create(6, `{"spec":{"updateStrategy":`+test.update[:len(test.update)-1]+`,"priorityStrategy":{"orderPriority":[{"orderedKey":"order"}]}}}}`)
				_, stop := c.start()
				defer stop()
				c.Minute()
				for i, pod := range c.PodNames() {
					name, order := "exhausted", "9"
					if i >= 3 {
						name, order = "other", "1"
					}
					patch := `{"metadata":{"labels":{"budget":"` + name + `","order":"` + order + `"}}}`
					if test.named {
						patch = strings.Replace(patch, `{"labels"`, `{"annotations":{"kruise.io/related-pub":"`+name+`"},"labels"`, 1)
					}
					c.PatchPod(pod, patch)
				}
				c.Minute()
				c.SetImage("nginx:2")
				for range 10 {
					c.Sleep(test.within)
					c.KubeletStep()
				}
				c.Minute()
				if got := c.imagesOf("exhausted"); got != "nginx:1 nginx:1 nginx:1" {
					t.Errorf("pods of the exhausted budget run %s", got)
				}
				if got := strings.Count(strings.Join(c.images(), " "), "nginx:2"); got != 3 {
					t.Errorf("%d pods are updated, want the 3 of the other budget", got)
				}
				c.ForgetRequests()
				clear(budget.asked)
				c.Sleep("10m")
				if n := budget.asked["exhausted"]; n < 500 || n > 2*620 {
					t.Errorf("the exhausted budget was asked %d times in ten minutes", n)
				}
				if requests := c.Count(fixture.ControllerUser); len(requests) > 0 {
					t.Errorf("requests of ten minutes: %v", requests)
				}
				budget.free = true
				for range 10 {
					c.Sleep(test.within)
					c.KubeletStep()
				}
				c.Minute()
				if got := strings.Count(strings.Join(c.images(), " "), "nginx:2"); got != 6 {
					t.Errorf("when the budget allows it, %d of 6 pods are updated", got)
				}
			})
		})
	}
}

// imagesOf are those of the pods with a label.
func (c *cluster) imagesOf(budget string) string {
	var images []string
	for _, pod := range c.Pods() {
		if pod.Labels["budget"] == budget {
			images = append(images, pod.Spec.Containers[0].Image)
		}
	}
	return strings.Join(images, " ")
}

// TestWaitingNamesTheBudget: CT-10. What the plan says of pods that an exhausted budget protects.
func TestWaitingNamesTheBudget(t *testing.T) {
	for _, strategy := range []string{"InPlaceIfPossible", "ReCreate"} {
		t.Run(strategy, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.options.Budget = &exhausted{asked: map[string]int{}}
				c.restart()
				c.create(3, `{"spec":{"updateStrategy":{"type":"`+strategy+`","maxUnavailable":1}}}`)
				c.Settle()
				for _, pod := range c.PodNames() {
					c.PatchPod(pod, `{"metadata":{"annotations":{"kruise.io/related-pub":"exhausted"},"labels":{"budget":"exhausted"}}}`)
				}
				c.Settle()
				c.SetImage("nginx:2")
				c.MustReconcile()
				c.Sleep("1s")
				plan, err := c.reconciler.Plan(context.Background(), web)
				c.Must(err)
				if len(plan.Waiting) != 3 {
					t.Errorf("%v, want all 3 pods to wait", plan.Waiting)
				}
				for _, w := range plan.Waiting {
					if w.Reason.Rule != rollout.RuleBudget || !strings.Contains(w.Reason.Message, "PodUnavailableBudget exhausted") {
						t.Errorf("pod %s waits: %s", w.Pod.Name, w.Reason)
					}
				}
			})
		})
	}
}
