// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestOnePodFails injects an error for one pod, or one claim, of five.
func TestOnePodFails(t *testing.T) {
	const scaleIn = `{"spec":{"replicas":0}}`
	const deleteClaims = `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}}`
	for _, test := range []struct {
		name      string
		change    func(*cluster)
		fail      string // the request
		want      []string
		event     string
		condition string
	}{
		{"an update in place, its first write", func(c *cluster) { c.SetImage("nginx:2") }, "patch pods/status web-2",
			[]string{"1 create controllerrevisions", "4 patch pods", "5 patch pods/status", "1 patch statefulsets/status"},
			"FailedUpdatePodInPlace: update pod web-2 in place: ", "FailedUpdatePod: patch pod web-2 (UpdateInPlace): "},
		{"an update in place, its second write", func(c *cluster) { c.SetImage("nginx:2") }, "patch pods web-2",
			[]string{"1 create controllerrevisions", "5 patch pods", "5 patch pods/status", "1 patch statefulsets/status"},
			"FailedUpdatePodInPlace: update pod web-2 in place: ", "FailedUpdatePod: patch pod web-2 (UpdateInPlace): "},
		{"a deletion", func(c *cluster) { c.Edit(scaleIn) }, "delete pods web-2", []string{"5 delete pods", "1 patch statefulsets/status"},
			"FailedDelete: delete Pod web-2 in StatefulSet web failed error: ", "FailedUpdatePod: delete pod web-2: "},
		{"a deletion for an update", func(c *cluster) {
			c.Edit(`{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"ReCreate"}},"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`)
		}, "delete pods web-2", []string{"1 create controllerrevisions", "5 delete pods", "1 patch statefulsets/status"},
			"FailedDelete: delete Pod web-2 in StatefulSet web failed error: ", "FailedUpdatePod: delete pod web-2: "},
		{"STS-23: a pod stays until its claim has been told that it goes", func(c *cluster) { c.Edit(c.Merge(deleteClaims, scaleIn)) }, "patch persistentvolumeclaims data-web-2",
			[]string{"4 delete pods", "5 patch persistentvolumeclaims", "1 patch statefulsets/status"},
			"FailedUpdate: change the owners of claim data-web-2: ", "FailedUpdatePod: delete pod web-2: change the owners of claim data-web-2: "},
		{"STS-23: a claim that cannot be told who owns it", func(c *cluster) {
			c.Edit(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`)
		}, "patch persistentvolumeclaims data-web-2", []string{"5 patch persistentvolumeclaims", "1 patch statefulsets/status"},
			"FailedUpdate: change the owners of claim data-web-2: ", "FailedUpdatePod: change the owners of claim data-web-2: "},
		{"STS-10: the label with the name", func(c *cluster) {
			c.PatchPod("web-2", `{"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":null}}}`)
		}, "patch pods web-2", []string{"1 patch pods", "1 patch statefulsets/status"},
			"FailedUpdate: update Pod web-2 in StatefulSet web failed error: ", "FailedUpdatePod: patch pod web-2 (Identify): "},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(5, spec(c, withParallel, withClaims, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":5}}}}`))
				c.Settle()
				test.change(c)
				c.Events.Forget()
				c.FailBefore(fixture.Fail(test.fail, fixture.ErrInternal))
				if diff := cmp.Diff(test.want, c.MustFailReconcile(apierrors.IsInternalError)); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				event := func(e string) bool { return strings.HasPrefix(e, "Warning "+test.event) }
				if events := c.Events.All(); !slices.ContainsFunc(events, event) {
					t.Errorf("events %q, want one %s", events, test.event)
				}
				if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], test.condition) {
					t.Errorf("conditions %q, want one %s", got, test.condition)
				}
				c.FailBefore(nil)
				c.SettleWith(func() { c.CollectGarbage() })
				c.whole()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q after the failure is over", got)
				}
			})
		})
	}
	t.Run("the condition is the same whichever pod fails first, and costs one write", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(20, spec(c, withParallel, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":20}}}}`))
			c.Settle()
			c.SetImage("nginx:2")
			c.FailBefore(fixture.Fail("patch pods/status", fixture.ErrInternal))
			_, _, _ = c.ReconcileOnce()
			for range 5 {
				c.Sleep("6m") // what was refused is tried again after at most 5, its last write first
				requests, _, _ := c.ReconcileOnce()
				if diff := cmp.Diff([]string{"20 get pods", "20 patch pods", "20 patch pods/status"}, requests); diff != "" {
					t.Fatalf("requests (-want +got):\n%s", diff)
				}
			}
			if got := c.Conditions(); len(got) != 1 || len(got[0]) > 1000 {
				t.Errorf("conditions %q", got)
			}
		})
	})
}

// TestCreationFails is about pods and claims that cannot be created.
func TestCreationFails(t *testing.T) {
	for _, test := range []struct {
		name, setup, fail string
		first, later      []string // requests of the first reconcile, and of those after it
		event             string
	}{
		{"STS-5, OrderedReady: a quota costs one request per reconcile", "", "create pods",
			[]string{"1 create controllerrevisions", "1 create pods", "1 patch statefulsets/status"}, []string{"1 create pods"},
			`FailedCreate: create Pod web-0 in StatefulSet web failed error: pods is forbidden: exceeded quota`},
		{"STS-5, Parallel: a quota costs two requests per reconcile", withParallel, "create pods",
			[]string{"1 create controllerrevisions", "2 create pods", "1 patch statefulsets/status"}, []string{"2 create pods"},
			`FailedCreate: create Pod web-0 in StatefulSet web failed error: pods is forbidden: exceeded quota`},
		{"STS-5: a quota of claims", withClaims, "create persistentvolumeclaims",
			[]string{"1 create controllerrevisions", "1 create persistentvolumeclaims", "1 patch statefulsets/status"}, []string{"1 create persistentvolumeclaims"},
			`FailedCreate: create Claim data-web-0 Pod web-0 in StatefulSet web failed error: pods is forbidden: exceeded quota`},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(10, test.setup)
				c.FailBefore(fixture.Fail(test.fail, fixture.ErrQuota))
				if diff := cmp.Diff(test.first, c.MustFailReconcile(apierrors.IsForbidden)); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				for range 3 {
					if diff := cmp.Diff(test.later, c.MustFailReconcile(apierrors.IsForbidden)); diff != "" {
						t.Errorf("requests (-want +got):\n%s", diff)
					}
				}
				if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedCreatePod: create ") || !strings.Contains(got[0], "exceeded quota") {
					t.Errorf("conditions %q", got)
				}
				if events := c.Events.All(); events[0] != "Warning "+test.event {
					t.Errorf("events %q, want first %q", events, test.event)
				}
				c.FailBefore(nil)
				c.Settle()
				c.whole()
			})
		})
	}
	t.Run("Parallel: one pod that cannot be created does not keep the others from it", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(10, withParallel)
			c.FailBefore(fixture.Fail("create pods web-0", fixture.ErrQuota))
			c.MustFailReconcile(apierrors.IsForbidden)
			if n := len(c.Pods()); n != 9 {
				t.Errorf("%d pods, want 9", n)
			}
		})
	})
	t.Run("an update goes on where a pod cannot be created", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(4, withParallel)
			c.Settle()
			c.FailBefore(fixture.Fail("create pods web-4", fixture.ErrQuota))
			c.Edit(`{"spec":{"replicas":5,"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}},"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}}}}`)
			c.MustFailReconcile(apierrors.IsForbidden)
			if diff := cmp.Diff([]string{"web-0 nginx:1", "web-1 nginx:1", "web-2 nginx:1", "web-3 nginx:2"}, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("in a namespace that is being deleted it is not tried again", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			terminating := apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("the namespace is being terminated"))
			terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
			c.create(1, withClaims)
			c.Settle()
			c.Edit(`{"spec":{"replicas":3,"template":{"metadata":{"labels":{"new":"revision"}}}}}`)
			for _, resource := range []string{"controllerrevisions", "persistentvolumeclaims", "pods"} {
				c.FailBefore(fixture.Fail("create "+resource, terminating))
				for range 2 {
					if requests, after, err := c.ReconcileOnce(); err != nil || after != 0 {
						t.Errorf("requests %v, again after %v, error %v", requests, after, err)
					}
				}
			}
			if n := len(c.Pods()); n != 1 {
				t.Errorf("%d pods", n)
			}
		})
	})
}

// TestBackOff: a pod that ends before it has run is replaced at once the first
// time, and later every time after.
func TestBackOff(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, "")
		c.MustReconcile()
		reject := func() { c.PatchPod("web-0", `{"status":{"phase":"Failed","reason":"OutOfcpu"}}`, "status") }
		for _, want := range []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second} {
			reject()
			uid := c.pod("web-0").UID
			_, after, err := c.ReconcileOnce()
			c.Must(err)
			if want > 0 && (after <= want-time.Second/2 || after > want || c.pod("web-0").UID != uid) {
				t.Fatalf("looks again after %v, want up to %v", after, want)
			}
			time.Sleep(min(after, want))
			for range 3 {
				c.MustReconcile()
			}
			if c.pod("web-0").UID == uid {
				t.Fatalf("after %v the pod is not replaced", want)
			}
		}
		c.Settle() // it runs
		c.PatchPod("web-0", `{"status":{"phase":"Failed"}}`, "status")
		uid := c.pod("web-0").UID
		for range 3 {
			c.MustReconcile()
		}
		if c.pod("web-0").UID == uid {
			t.Error("a pod that ran is not replaced at once")
		}
	})
}

// budget allows so many updates.
type budget struct {
	left  int
	asked []string
}

func (b *budget) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.asked = append(b.asked, pod.Name)
	b.left--
	return b.left >= 0, nil
}

// A budget is asked as for CloneSets: a pod that it refuses stays unchanged, and is asked
// about again after a second.
func TestBudget(t *testing.T) {
	for policy, update := range map[string][]string{
		"ReCreate":          {"1 create controllerrevisions", "1 delete pods", "1 patch statefulsets/status"},
		"InPlaceIfPossible": {"1 create controllerrevisions", "1 patch pods", "1 patch pods/status", "1 patch statefulsets/status"},
	} {
		t.Run(policy, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				b := &budget{left: 1}
				c.options.Budget = b
				c.restart()
				c.create(3, `{"spec":{"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"maxUnavailable":3,"podUpdatePolicy":"`+policy+`"}}}}`)
				c.Settle()
				c.SetImage("nginx:2")
				requests, after, err := c.ReconcileOnce()
				c.Must(err)
				if diff := cmp.Diff(update, requests); diff != "" || len(b.asked) != 2 || after != time.Second {
					t.Errorf("asked about %v, again after %v, requests (-want +got):\n%s", b.asked, after, diff)
				}
				b.left = 1000
				c.Settle()
				if status := c.get().Status; status.UpdatedReadyReplicas != 3 || len(status.Conditions) > 0 {
					t.Errorf("status %+v", status)
				}
			})
		})
	}
}

// placement sends pods to a node, and does not know to which if their names are unknown.
type placement struct {
	lock    sync.Mutex
	unknown string
}

func (p *placement) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if pod.Name == p.unknown {
		return nil, errors.New("nobody knows")
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "node-" + pod.Name}
	return pod, nil
}

// PPS-27: a Placement says on which node a pod is created. If its place is not known, an error says so, and the pod is created
// when it is known. Until then the controller makes no request for it, and others are not held up. A pod that is placed has the
// same revision, and is settled.
func TestPlacement(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		p := &placement{unknown: "web-1"}
		c.options.Placement = p
		c.restart()
		c.create(3, `{"spec":{"podManagementPolicy":"Parallel"}}`)
		requests, _, err := c.ReconcileOnce()
		if err == nil || !strings.Contains(err.Error(), "create pod web-1: find its place: nobody knows") {
			t.Errorf("error %v", err)
		}
		if !slices.Contains(requests, "2 create pods") {
			t.Errorf("requests %v", requests)
		}
		requests, _, _ = c.ReconcileOnce()
		if slices.ContainsFunc(requests, func(r string) bool { return strings.HasSuffix(r, "create pods") || strings.HasSuffix(r, "get pods") }) {
			t.Errorf("requests %v for a pod whose place is not known", requests)
		}
		p.unknown = ""
		c.Settle()
		for _, pod := range c.Pods() {
			if node := pod.Spec.NodeSelector["kubernetes.io/hostname"]; node != "node-"+pod.Name {
				t.Errorf("pod %s is placed on %q", pod.Name, node)
			}
		}
		if status := c.get().Status; status.ReadyReplicas != 3 || status.UpdatedReplicas != 3 {
			t.Errorf("status %+v", status)
		}
	})
}
