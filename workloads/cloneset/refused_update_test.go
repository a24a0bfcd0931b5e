// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// TestUpdatesThatAreRefused: the API server refuses the update of pods whose status has been written already. They leave service
// once. They are updated when the API server allows it, or when the workload changes.
func TestUpdatesThatAreRefused(t *testing.T) {
	for name, mend := range map[string]func(*cluster){
		"it is refused no more": func(c *cluster) { c.Sleep("5m") },
		"another template":      func(c *cluster) { c.SetImage("nginx:3") },
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1}}}`)
				c.Settle()
				c.SetImage("nginx:2")
				tried, withdrawn := 0, 0
				c.FailBefore(func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && r.String() == "patch pods" {
						tried++
						return fixture.ErrQuota
					}
					return nil
				})
				for range 1200 { // as often as events come
					requests, after, err := c.ReconcileOnce()
					if len(requests) == 0 && after == 0 && err == nil {
						t.Fatal("nothing brings the next attempt")
					}
					if !inService(c.Pods()) {
						withdrawn++
					}
					c.Sleep("1s")
				}
				if tried < 8 || tried > 16 || withdrawn > 1 {
					t.Errorf("in 20 minutes the update was tried %d times, and pods were out of service in %d reconciles", tried, withdrawn)
				}
				if conditions := c.Conditions(); len(conditions) != 1 || !strings.HasPrefix(conditions[0], "FailedUpdate: ") {
					t.Errorf("conditions %q, want the reason", conditions)
				}
				c.FailBefore(nil)
				mend(c)
				c.Settle()
				if status := c.get().Status; status.UpdatedReadyReplicas != 3 || len(status.Conditions) != 0 {
					t.Errorf("status %+v", status)
				}
			})
		})
	}
}

// TestOneUpdateIsRefused: CS-32. The pod whose update is refused is passed over, is
// tried again when nothing else is left to do, and is reported all the while.
func TestOneUpdateIsRefused(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(5, `{"spec":{"updateStrategy":{"type":"InPlaceOnly","maxUnavailable":1}}}`)
		c.Settle()
		refused := c.Pods()[2].Name
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch pods" && r.Name == refused {
				return fixture.ErrQuota
			}
			return nil
		})
		c.SetImage("nginx:2")
		reported := false
		for range 60 {
			if _, _, err := c.ReconcileOnce(); err != nil {
				reported = true
			}
			c.KubeletStep()
			c.Sleep("1s")
			if conditions := c.Conditions(); reported && (len(conditions) != 1 || !strings.Contains(conditions[0], refused)) {
				t.Fatalf("conditions %q, want one about pod %s", conditions, refused)
			}
		}
		if n := c.get().Status.UpdatedReadyReplicas; n != 4 || !reported {
			t.Fatalf("%d pods are updated and ready, reported %t; want all but the one that is refused", n, reported)
		}
		c.FailBefore(nil)
		c.Sleep("5m")
		c.Settle()
		if status := c.get().Status; status.UpdatedReadyReplicas != 5 || len(status.Conditions) != 0 {
			t.Errorf("status %+v", status)
		}
	})
}

// TestRecreationIsRefused: CS-32. Pods that have to be recreated and must not be deleted
// do not hold up those that can be updated in place.
func TestRecreationIsRefused(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(4, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1,"partition":2}}}`)
		c.Settle()
		c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","env":[{"name":"A","value":"1"}]}]}}}}`)
		c.Settle() // two pods have the variable, the newest, which are updated first
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "delete pods" {
				return fixture.ErrQuota
			}
			return nil
		})
		c.Edit(`{"spec":{"updateStrategy":{"partition":0},"template":{"spec":{"containers":[{"name":"main","image":"nginx:3"}]}}}}`)
		for range 60 {
			_, _, _ = c.ReconcileOnce()
			c.KubeletStep()
			c.Sleep("1s")
		}
		status, conditions := c.get().Status, c.Conditions()
		if status.UpdatedReadyReplicas != 2 || len(conditions) != 1 || !strings.Contains(conditions[0], "quota") {
			t.Fatalf("status %+v, want both that can be updated in place, and why the others are not", status)
		}
		c.FailBefore(nil)
		c.Sleep("5m")
		c.Settle()
		if status := c.get().Status; status.UpdatedReadyReplicas != 4 || len(status.Conditions) != 0 {
			t.Errorf("status %+v", status)
		}
	})
}

// TestPreparationIsRefused: CS-32. The update of one pod and the preparation of another one for its update are refused. The
// status tells the same about both all the time.
func TestPreparationIsRefused(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":2},"lifecycle":{"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}}}}`)
		c.Settle()
		c.PatchPod(c.PodNames()[0], `{"metadata":{"labels":{"hold":"true"}}}`)
		c.Settle()
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && strings.HasPrefix(r.String(), "patch pods") {
				return fixture.ErrQuota
			}
			return nil
		})
		c.SetImage("nginx:2")
		written := 0
		for range 1200 { // as often as events come
			requests, _, _ := c.ReconcileOnce()
			if slices.Contains(requests, "1 patch clonesets/status") {
				written++
			}
			c.Sleep("1s")
		}
		if written != 1 {
			t.Errorf("the status was written %d times, want once", written)
		}
		if conditions := c.Conditions(); len(conditions) != 1 || !strings.Contains(conditions[0], c.PodNames()[0]) || !strings.Contains(conditions[0], c.PodNames()[1]) {
			t.Errorf("conditions %q, want one that names both pods", conditions)
		}
	})
}

// TestRefusedUpdateIsDenied: CS-32. The status goes on to name pods whose updates the API server refused and a budget denies now,
// also while it reports another failure.
func TestRefusedUpdateIsDenied(t *testing.T) {
	for _, strategy := range []string{"InPlaceOnly", "ReCreate"} {
		t.Run(strategy, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				budget := &exhausted{free: true, asked: map[string]int{}}
				c.options.Budget = budget
				c.restart()
				c.create(3, `{"spec":{"updateStrategy":{"type":"`+strategy+`","maxUnavailable":1,"partition":2}}}`)
				c.Settle()
				c.SetImage("nginx:2")
				c.Settle() // one pod is updated
				for _, pod := range c.Pods() {
					patch := `{"metadata":{"labels":{"budget":"exhausted"}}}`
					if pod.Spec.Containers[0].Image == "nginx:2" { // the controller gives the label back
						patch = `{"metadata":{"labels":{"pod-template-hash":null}}}`
					}
					c.PatchPod(pod.Name, patch)
				}
				c.FailBefore(func(r fakecluster.Request) error {
					if r.User == fixture.ControllerUser && (strings.HasPrefix(r.String(), "patch pods") || r.String() == "delete pods") {
						return fixture.ErrQuota
					}
					return nil
				})
				c.Edit(`{"spec":{"updateStrategy":{"partition":0}}}`)
				reconcile := func() (written int) {
					for range 600 { // as often as events come
						requests, _, _ := c.ReconcileOnce()
						if slices.Contains(requests, "1 patch clonesets/status") {
							written++
						}
						c.Sleep("1s")
					}
					return written
				}
				reconcile()
				named := c.Conditions()
				budget.free = false
				if written := reconcile(); written != 1 || !slices.Equal(c.Conditions(), named) {
					t.Errorf("the status was written %d times, want once, when HeldUp names the budget; it said %q before, and %q after", written, named, c.Conditions())
				}
				for _, pod := range c.PodNames() {
					if len(named) != 1 || !strings.Contains(named[0], pod) {
						t.Errorf("conditions %q, want one that names pod %s", named, pod)
					}
				}
			})
		})
	}
}

// TestUpdateThatFailsAfterItIsMade: an answer that refuses an update which has been
// made is forgotten with the update.
func TestUpdateThatFailsAfterItIsMade(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":3}}}`)
		c.Settle()
		c.SetImage("nginx:2")
		c.FailAfter(fixture.Fail("patch pods", fixture.ErrInternal))
		if _, _, err := c.ReconcileOnce(); err == nil {
			t.Fatal("no error")
		}
		c.FailAfter(nil)
		c.Settle()
		if status := c.get().Status; status.UpdatedReadyReplicas != 3 || len(status.Conditions) != 0 {
			t.Errorf("status %+v", status)
		}
	})
}

func inService(pods []corev1.Pod) bool {
	for i := range pods {
		if c := readiness.Condition(&pods[i], inplacev1alpha1.InPlaceUpdateReady); c != nil && c.Status != corev1.ConditionTrue {
			return false
		}
	}
	return true
}

// The API server refused the update of a pod, and other pods were updated before it. Now the partition keeps it at its revision:
// nothing is wrong any more. (CS-34)
func TestRefusedPodStays(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "type=InPlaceIfPossible")
	w.settle()
	w.Spec("image=nginx:2", "partition=1", "maxUnavailable=100%")
	w.settle()
	s := w.snapshot()
	for _, pod := range s.Pods {
		if pod.Spec.Containers[0].Image == "nginx:1" {
			s.Refused = rollout.Refusals{Until: w.Now.Add(-time.Second), Err: errors.New("refused"), Pods: map[types.UID]error{pod.UID: errors.New("refused")}}
		}
	}
	if plan := NewPlan(s); len(plan.Problems) > 0 {
		t.Errorf("problems %v", plan.Problems)
	}
	s.Set.Spec.UpdateStrategy.Partition = nil
	if plan := NewPlan(s); len(plan.Problems) != 1 {
		t.Errorf("without a partition: problems %v, want the refusal", plan.Problems)
	}
}
