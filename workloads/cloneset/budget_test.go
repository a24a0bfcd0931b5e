// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// budget allows n updates.
type budget struct {
	left  int
	err   error
	asked []string

	inside  atomic.Int32
	overlap atomic.Bool
}

func (b *budget) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.overlap.Store(b.overlap.Load() || b.inside.Add(1) > 1)
	defer b.inside.Add(-1)
	for range 100 { // time for another question
		runtime.Gosched()
	}
	b.asked = append(b.asked, pod.Name)
	b.left--
	return b.left >= 0, b.err
}

// TestBudget is CS-32.
func TestBudget(t *testing.T) {
	for _, test := range []struct {
		name, strategy string
		budget         *budget
		asked          int
		update         []string
	}{
		{"CS-32: in place, two are allowed, and none is asked about after the first refusal", "InPlaceIfPossible", &budget{left: 2}, 3,
			[]string{"1 create controllerrevisions", "1 patch clonesets/status", "2 patch pods", "2 patch pods/status"}},
		{"CS-32: by recreation, two are allowed", "ReCreate", &budget{left: 2}, 3,
			[]string{"1 create controllerrevisions", "2 delete pods", "1 patch clonesets/status"}},
		{"CS-32: a budget that cannot tell allows nothing", "InPlaceIfPossible", &budget{left: 9, err: fixture.ErrLost}, 1,
			[]string{"1 create controllerrevisions", "1 patch clonesets/status"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.options.Budget = test.budget
				c.restart()
				c.create(20, `{"spec":{"updateStrategy":{"type":"`+test.strategy+`","maxUnavailable":20}}}`)
				c.Settle()
				c.SetImage("nginx:2")
				requests, after, err := c.ReconcileOnce()
				if diff := cmp.Diff(test.update, requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if len(test.budget.asked) != test.asked || after != time.Second || !errors.Is(err, test.budget.err) {
					t.Errorf("asked about %v, again after %v, error %v", test.budget.asked, after, err)
				}
				if test.budget.overlap.Load() {
					t.Error("it was asked about two pods at a time")
				}
				test.budget.left, test.budget.err = 1000, nil
				c.Settle()
				if status := c.get().Status; status.UpdatedReadyReplicas != 20 || len(status.Conditions) > 0 {
					t.Errorf("status %+v", status)
				}
			})
		})
	}
}

// allowsUnready allows what no budget protects: updates of pods that are not ready.
type allowsUnready struct{}

func (allowsUnready) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	return !readiness.Ready(pod), nil
}

// CS-32: the update repairs a pod that is not ready although another one, which comes first,
// has to wait for that.
func TestBudgetDoesNotHoldPodsThatAreNotReady(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.options.Budget = allowsUnready{}
		c.restart()
		c.create(3, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":3,"priorityStrategy":{"orderPriority":[{"orderedKey":"late"}]}}}}`)
		c.Settle()
		broken := c.PodNames()[1]
		c.LabelPods("late", "2")
		c.PatchPod(broken, `{"metadata":{"labels":{"late":"1"}}}`) // which comes last
		c.PatchPod(broken, `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		c.SetImage("nginx:2")
		for range 3 {
			c.MustReconcile()
		}
		for _, pod := range c.Pods() {
			if got, want := pod.Spec.Containers[0].Image == "nginx:2", pod.Name == broken; got != want {
				t.Errorf("pod %s updated: %t, want %t", pod.Name, got, want)
			}
		}
	})
}

// CS-32: the budget is asked before a hook is, which takes the pod out of service. A
// deletion for another reason than an update is not its business.
func TestBudgetIsAskedBeforeHooks(t *testing.T) {
	for _, test := range []struct {
		name, strategy string
		change         func(*cluster)
		held           bool
	}{
		{"an update in place", "InPlaceIfPossible", func(c *cluster) { c.SetImage("nginx:2") }, true},
		{"an update by recreation", "ReCreate", func(c *cluster) { c.SetImage("nginx:2") }, true},
		{"scaling in", "ReCreate", func(c *cluster) { c.Edit(`{"spec":{"replicas":0}}`) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.options.Budget = &budget{}
				c.restart()
				c.create(2, `{"spec":{"updateStrategy":{"type":"`+test.strategy+`","maxUnavailable":2},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}},"lifecycle":{
					"inPlaceUpdate":{"labelsHandler":{"hold":"true"},"markPodNotReady":true},"preDelete":{"labelsHandler":{"hold":"true"},"markPodNotReady":true}}}}`)
				c.Settle()
				test.change(c)
				c.MustReconcile()
				for _, pod := range c.Pods() {
					if held := lifecycle.StateOf(&pod) == lifecyclev1alpha1.StateNormal; held != test.held {
						t.Errorf("pod %s is %s, want it held: %t", pod.Name, lifecycle.StateOf(&pod), test.held)
					}
				}
			})
		})
	}
}
