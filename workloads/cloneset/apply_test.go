// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestOnePodFails injects an error for one pod of five.
func TestOnePodFails(t *testing.T) {
	const two = `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":5}}}`
	for _, test := range []struct {
		name      string
		change    func(*cluster)
		fail      string // the request, without the pod
		want      []string
		event     string
		condition string
	}{
		{"CS-32: an update in place, its first write", func(c *cluster) { c.SetImage("nginx:2") }, "patch pods/status",
			[]string{"1 create controllerrevisions", "1 patch clonesets/status", "4 patch pods", "5 patch pods/status"},
			"FailedUpdatePodInPlace", "FailedUpdate"},
		{"CS-32: an update in place, its second write", func(c *cluster) { c.SetImage("nginx:2") }, "patch pods ",
			[]string{"1 create controllerrevisions", "1 patch clonesets/status", "5 patch pods", "5 patch pods/status"},
			"FailedUpdatePodInPlace", "FailedUpdate"},
		{"CS-24: a deletion", func(c *cluster) { c.Edit(`{"spec":{"replicas":0}}`) }, "delete pods",
			[]string{"5 delete pods", "1 patch clonesets/status"}, "FailedDelete", "FailedScale"},
		{"CS-33: a deletion for an update", func(c *cluster) {
			c.Edit(`{"spec":{"updateStrategy":{"type":"ReCreate"},"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
		}, "delete pods", []string{"1 create controllerrevisions", "5 delete pods", "1 patch clonesets/status"},
			"FailedUpdatePodReCreate", "FailedUpdate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(5, two)
				c.Settle()
				broken := c.PodNames()[2]
				test.change(c)
				what := strings.TrimSpace(test.fail) + " " + broken
				c.FailBefore(fixture.Fail(what, fixture.ErrInternal))
				requests, _, err := c.ReconcileOnce()
				if !apierrors.IsInternalError(fixture.FirstStatus(err)) {
					t.Errorf("error %v, want the injected one", err)
				}
				if diff := cmp.Diff(test.want, requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				if c.Events.Count(test.event) != 1 {
					t.Errorf("events %q, want one %s", c.Events.All(), test.event)
				}
				if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], test.condition+": ") || !strings.Contains(got[0], broken) {
					t.Errorf("conditions %q, want one %s that names pod %s", got, test.condition, broken)
				}
				c.FailBefore(nil)
				c.Settle()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q after the failure is over", got)
				}
				set := c.get()
				if set.Status.UpdatedReadyReplicas != *set.Spec.Replicas || len(c.Pods()) != int(*set.Spec.Replicas) {
					t.Errorf("%d pods, status %+v", len(c.Pods()), set.Status)
				}
			})
		})
	}
	t.Run("CS-S2: the condition is the same whichever pod fails first, and costs one write", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(5, two)
			c.Settle()
			c.SetImage("nginx:2")
			c.FailBefore(fixture.Fail("patch pods/status", fixture.ErrInternal))
			_, _, _ = c.ReconcileOnce()
			for range 5 {
				c.Sleep("6m") // what was refused is tried again after at most 5, its last write first
				requests, _, _ := c.ReconcileOnce()
				if diff := cmp.Diff([]string{"5 get pods", "5 patch pods", "5 patch pods/status"}, requests); diff != "" {
					t.Fatalf("requests (-want +got):\n%s", diff)
				}
			}
			if got := c.Conditions(); len(got) != 1 || len(got[0]) > 1000 {
				t.Errorf("conditions %q", got)
			}
		})
	})
}

// TestCreationFails is CS-19.
func TestCreationFails(t *testing.T) {
	t.Run("CS-19: a quota costs one request per reconcile", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(100, "")
			c.FailBefore(fixture.Fail("create pods", fixture.ErrQuota))
			c.MustFailReconcile(apierrors.IsForbidden)
			for range 3 {
				c.MustFailReconcile(apierrors.IsForbidden)
				if diff := cmp.Diff(map[string]int{"create pods": 1}, c.Count(fixture.ControllerUser)); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			}
			if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedScale: ") || !strings.Contains(got[0], "exceeded quota") {
				t.Errorf("conditions %q", got)
			}
			if c.Events.Count("FailedCreate") == 0 {
				t.Errorf("events %q", c.Events.All())
			}
		})
	})
	t.Run("CS-19: a quota that is reached on the way ends the batch", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(100, "")
			var created atomic.Int32
			c.FailBefore(func(r fakecluster.Request) error {
				if r.String() == "create pods" && created.Add(1) > 5 {
					return fixture.ErrQuota
				}
				return nil
			})
			requests, _, _ := c.ReconcileOnce()
			if diff := cmp.Diff([]string{"1 create controllerrevisions", "7 create pods", "1 patch clonesets/status"}, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			c.FailBefore(nil)
			c.Settle()
			if n := len(c.Pods()); n != 100 {
				t.Errorf("%d pods, want 100", n)
			}
		})
	})
	const claims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`
	for _, test := range []struct{ resource, spec string }{
		{"pods", ""}, {"pods", claims}, {"persistentvolumeclaims", claims}, {"controllerrevisions", ""},
	} {
		t.Run("a creation of "+test.resource+" whose answer is lost is made once "+test.spec, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, test.spec)
				once, happened := fixture.Once(fixture.Fail("create "+test.resource, fixture.ErrLost))
				c.FailAfter(once)
				c.Hold(test.resource)
				for range 5 {
					if _, _, _ = c.ReconcileOnce(); len(c.Pods()) > 3 {
						t.Errorf("%d pods, want 3", len(c.Pods()))
					}
				}
				if !happened() {
					t.Error("no answer was lost")
				}
				c.Release(test.resource)
				c.Settle()
				claims, err := c.Kube.CoreV1().PersistentVolumeClaims("default").List(t.Context(), metav1.ListOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Pods()) != 3 || len(claims.Items)%3 != 0 || len(c.Conditions()) > 0 {
					t.Errorf("%d pods, %d claims, conditions %q", len(c.Pods()), len(claims.Items), c.Conditions())
				}
			})
		})
	}
}

func TestCreationIsFoundLater(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
		c.FailAfter(fixture.Fail("create pods", fixture.ErrLost))
		c.FailBefore(fixture.Fail("get pods", fixture.ErrLost))
		c.Hold("pods")
		if _, _, err := c.ReconcileOnce(); !errors.Is(err, fixture.ErrLost) {
			t.Errorf("error %v, want the lost answer", err)
		}
		c.FailAfter(nil)
		c.FailBefore(nil)
		for _, want := range [][]string{{"1 get pods"}, {}} { // found, and then waited for
			if diff := cmp.Diff(want, c.MustReconcile()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		}
		c.Release("pods")
		c.Settle()
		if n, failed := len(c.Pods()), c.Conditions(); n != 1 || len(failed) > 0 {
			t.Errorf("%d pods, conditions %q", n, failed)
		}
	})
}

// TestReplacedPods has pods deleted and created again under the same name, by
// another client, while the cache shows the former ones.
func TestReplacedPods(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*cluster)
	}{
		{"a stale plan to delete", func(c *cluster) { c.Edit(`{"spec":{"replicas":0}}`) }},
		{"a stale plan to update in place", func(c *cluster) { c.SetImage("nginx:2") }},
		{"a stale plan to label", func(c *cluster) {
			c.Edit(`{"spec":{"replicas":0,"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}}}}}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(2, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":2},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`)
				c.Settle()
				test.change(c)
				c.Hold("pods")
				for _, name := range c.PodNames() {
					c.ReplacePod(name)
				}
				_, _, err := c.ReconcileOnce()
				for _, err := range fixture.Joined(err) {
					if !apierrors.IsConflict(err) {
						t.Errorf("error %v; that a pod has been replaced is none", err)
					}
				}
				for _, pod := range c.Pods() {
					if pod.Labels["by"] != "user" || len(pod.Labels) != 1 || pod.Spec.Containers[0].Image != "mine" || pod.DeletionTimestamp != nil {
						t.Errorf("pod %s was changed: %v", pod.Name, pod.Labels)
					}
				}
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
}

// CS-16: the event tells that scaleStrategy.maxUnavailable begins to hold pods
// back, not every reconcile in which it does.
func TestScaleUpLimitedIsToldOnce(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(12, `{"spec":{"scaleStrategy":{"maxUnavailable":2}}}`)
		c.Settle()
		if n := c.Events.Count("ScaleUpLimited"); n != 1 || len(c.Pods()) != 12 {
			t.Errorf("%d events while %d pods are created, want 1 and 12", n, len(c.Pods()))
		}
		c.Edit(`{"spec":{"replicas":14}}`) // within the limit
		c.Settle()
		c.Edit(`{"spec":{"replicas":20}}`)
		c.Settle()
		if n := c.Events.Count("ScaleUpLimited"); n != 2 {
			t.Errorf("%d events after the next scale-up that is limited, want 2", n)
		}
	})
}

// placement sends pods to a zone, or cannot tell to which.
type placement struct{ unknown atomic.Bool }

func (p *placement) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	if p.unknown.Load() {
		return nil, errors.New("nobody knows")
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeSelector = map[string]string{"zone": "a"}
	return pod, nil
}

// WS-25: a Placement says on which node a pod is created. If its place is not known, nothing is sent, and an error says so. The
// pod is created when its place is known. A pod that is placed has the same revision, and is settled.
func TestPlacement(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		p := &placement{}
		p.unknown.Store(true)
		c.options.Placement = p
		c.restart()
		c.create(3, "")
		requests, _, err := c.ReconcileOnce()
		if err == nil || !strings.Contains(err.Error(), "find its place: nobody knows") {
			t.Errorf("error %v", err)
		}
		if slices.ContainsFunc(requests, func(r string) bool { return strings.HasSuffix(r, "create pods") }) {
			t.Errorf("requests %v for pods whose place is not known", requests)
		}
		p.unknown.Store(false)
		c.Settle()
		for _, pod := range c.Pods() {
			if pod.Spec.NodeSelector["zone"] != "a" {
				t.Errorf("pod %s is placed by %v", pod.Name, pod.Spec.NodeSelector)
			}
		}
		if n := len(c.Pods()); n != 3 {
			t.Errorf("%d pods, want 3", n)
		}
		c.ExpectSettled()
	})
}
