// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/controller"
)

// TestRequests counts what 10 pods cost. Beside the requests per pod there is one for the status of the StatefulSet whenever its
// numbers have changed. If pods are updated one after the other, that is as often as one is created, ready or gone.
func TestRequests(t *testing.T) {
	const pods = 10
	for _, test := range []struct {
		name  string
		setup func(*cluster)
		want  []string
	}{
		{"ordered creation: 2 per pod", func(c *cluster) { c.create(pods, "") },
			[]string{"1 create controllerrevisions", "10 create pods", "10 patch pods/status", "21 patch statefulsets/status"}},
		{"parallel creation: 2 per pod", func(c *cluster) { c.create(pods, withParallel) },
			[]string{"1 create controllerrevisions", "10 create pods", "10 patch pods/status", "3 patch statefulsets/status"}},
		{"creation with claims: 2 per pod and 1 per claim", func(c *cluster) { c.create(pods, spec(c, withParallel, withClaims)) },
			[]string{"1 create controllerrevisions", "10 create persistentvolumeclaims", "10 create pods", "10 patch pods/status", "3 patch statefulsets/status"}},
		{"update in place: 3 per pod", func(c *cluster) { c.create(pods, ""); c.Settle(); c.SetImage("nginx:2") },
			[]string{"1 create controllerrevisions", "10 patch pods", "20 patch pods/status", "21 patch statefulsets/status"}},
		{"update by recreation: 3 per pod", func(c *cluster) { c.create(pods, withRecreate); c.Settle(); c.SetImage("nginx:2") },
			[]string{"1 create controllerrevisions", "10 create pods", "10 delete pods", "10 patch pods/status", "31 patch statefulsets/status"}},
		{"scale-in: 1 per pod", func(c *cluster) { c.create(pods, ""); c.Settle(); c.Edit(`{"spec":{"replicas":4}}`) },
			[]string{"6 delete pods", "7 patch statefulsets/status"}},
		{"parallel scale-in: 1 per pod", func(c *cluster) { c.create(pods, withParallel); c.Settle(); c.Edit(`{"spec":{"replicas":4}}`) },
			[]string{"6 delete pods", "2 patch statefulsets/status"}},
		{"restart of the controller: none", func(c *cluster) { c.create(pods, withClaims); c.Settle(); c.restart() }, []string{}},
		{"STS-E20: a changed annotation of the StatefulSet: none", func(c *cluster) {
			c.create(pods, withClaims)
			c.Settle()
			c.Edit(`{"metadata":{"annotations":{"a":"b"}}}`)
		}, []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				test.setup(c)
				if diff := cmp.Diff(test.want, c.Settle()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
				c.whole()
			})
		})
	}
}

// TestConsistency holds back what the caches would see, after a reconcile has written.
func TestConsistency(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup func(*cluster)
		hold  string
		want  []string // requests of the one reconcile that writes
	}{
		{"a creation", func(c *cluster) { c.create(5, "") }, "pods",
			[]string{"1 create controllerrevisions", "1 create pods", "1 patch statefulsets/status"}},
		{"creations", func(c *cluster) { c.create(5, withParallel) }, "pods",
			[]string{"1 create controllerrevisions", "5 create pods", "1 patch statefulsets/status"}},
		{"creations of claims", func(c *cluster) { c.create(5, spec(c, withParallel, withClaims)) }, "persistentvolumeclaims",
			[]string{"1 create controllerrevisions", "5 create persistentvolumeclaims", "5 create pods", "1 patch statefulsets/status"}},
		{"the creation of a revision", func(c *cluster) { c.create(5, "") }, "controllerrevisions",
			[]string{"1 create controllerrevisions", "1 create pods", "1 patch statefulsets/status"}},
		{"the write of a status", func(c *cluster) { c.create(5, "") }, "statefulsets",
			[]string{"1 create controllerrevisions", "1 create pods", "1 patch statefulsets/status"}},
		{"a deletion", func(c *cluster) { c.create(5, ""); c.Settle(); c.Edit(`{"spec":{"replicas":3}}`) }, "pods",
			[]string{"1 delete pods", "1 patch statefulsets/status"}},
		{"an update", func(c *cluster) { c.create(5, ""); c.Settle(); c.SetImage("nginx:2") }, "pods",
			[]string{"1 create controllerrevisions", "1 patch pods", "1 patch pods/status", "1 patch statefulsets/status"}},
		{"owning claims", func(c *cluster) {
			c.create(3, withClaims)
			c.Settle()
			c.Edit(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`)
		}, "persistentvolumeclaims", []string{"3 patch persistentvolumeclaims", "1 patch statefulsets/status"}},
	} {
		t.Run("STS-14: after "+test.name+" nothing is done until the cache shows it", func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				test.setup(c)
				c.Hold(test.hold)
				if diff := cmp.Diff(test.want, c.MustReconcile()); diff != "" {
					t.Fatalf("requests of the first reconcile (-want +got):\n%s", diff)
				}
				for range 3 {
					requests, after, err := c.ReconcileOnce()
					if len(requests) > 0 || after != controller.StaleRetry || err != nil {
						t.Errorf("stale: %v, again after %v, error %v", requests, after, err)
					}
				}
				c.Release(test.hold)
				c.Settle()
				c.whole()
			})
		})
	}
	t.Run("a partly stale cache is stale", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, withParallel)
			c.Hold("pods")
			c.MustReconcile()
			c.ReleaseNext("pods", 2)
			if requests := c.MustReconcile(); len(requests) > 0 {
				t.Errorf("requests %v", requests)
			}
		})
	})
}

// TestNothingFreezes makes caches miss events.
func TestNothingFreezes(t *testing.T) {
	for _, test := range []struct {
		name  string
		story func(*cluster)
	}{
		{"a pod that is created and deleted before the cache sees it", func(c *cluster) {
			c.create(3, "")
			c.Hold("pods")
			c.MustReconcile()
			c.DeletePod("web-0")
			c.Release("pods")
		}},
		{"a watch that is dropped, and a new list that never shows a pod", func(c *cluster) {
			c.create(3, withParallel)
			c.Hold("pods")
			c.MustReconcile()
			for _, name := range c.PodNames() {
				c.DeletePod(name)
			}
			c.Relist("pods")
		}},
		{"a deletion that only a new list shows", func(c *cluster) {
			c.create(3, "")
			c.Settle()
			c.Edit(`{"spec":{"replicas":1}}`)
			c.Hold("pods")
			c.MustReconcile()
			c.KubeletStep()
			c.Relist("pods")
		}},
		{"claims and revisions that only a new list shows", func(c *cluster) {
			c.create(3, withClaims)
			c.Hold("persistentvolumeclaims")
			c.Hold("controllerrevisions")
			c.MustReconcile()
			c.Relist("persistentvolumeclaims")
			c.Relist("controllerrevisions")
		}},
		{"a claim that is deleted from under a pod before the cache sees it", func(c *cluster) {
			c.create(3, withClaims)
			c.Hold("persistentvolumeclaims")
			c.MustReconcile()
			c.deleteClaim("data-web-0")
			c.Release("persistentvolumeclaims")
		}},
		{"a StatefulSet that is deleted and created again is another one", func(c *cluster) {
			c.create(3, withParallel)
			c.Settle()
			c.Delete()
			if requests := c.MustReconcile(); len(requests) > 0 {
				c.T.Errorf("requests about a StatefulSet that is gone: %v", requests)
			}
			c.create(2, withParallel)
			for range 3 { // the name of the revision is taken, too
				c.MustReconcile()
			}
			if n := len(c.Pods()); n != 3 {
				c.T.Errorf("%d pods, want the 3 of the former StatefulSet, which are not touched", n)
			}
			c.CollectGarbage()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				test.story(c)
				c.Settle()
				c.whole()
			})
		})
	}
}

// stranger is a pod without an owner.
func stranger(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "other"}}}}
}

// TestForeignObjects is about objects that belong to other owners.
func TestForeignObjects(t *testing.T) {
	t.Run("STS-2: pods that only match by label are never touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			for _, name := range []string{"stranger", "web-x", "web-01", "web"} {
				c.CreatePod(stranger(name, map[string]string{"app": "web"}))
			}
			c.create(2, "")
			c.Settle()
			c.SetImage("nginx:2")
			c.Settle()
			c.Edit(`{"spec":{"replicas":0}}`)
			c.Settle()
			if diff := cmp.Diff([]string{"stranger other", "web other", "web-01 other", "web-x other"}, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			for _, pod := range c.Pods() {
				if len(pod.Labels) != 1 || len(pod.OwnerReferences) != 0 {
					t.Errorf("pod %s has labels %v, owners %v", pod.Name, pod.Labels, pod.OwnerReferences)
				}
			}
		})
	})
	t.Run("a pod of another controller in the way is never touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			other := stranger("web-1", map[string]string{"app": "web"})
			other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "other", Controller: new(true)}}
			c.CreatePod(other)
			c.create(3, withParallel)
			c.Settle()
			if diff := cmp.Diff([]string{"web-0 nginx:1", "web-1 other", "web-2 nginx:1"}, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedCreatePod: create pod web-1: ") {
				t.Errorf("conditions %q", got)
			}
			c.Edit(`{"spec":{"replicas":0}}`)
			c.Settle()
			if diff := cmp.Diff([]string{"web-1 other"}, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("two StatefulSets with overlapping selectors do not fight", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, "")
			c.Settle()
			twin := testSet(2)
			twin.Name = "twin"
			twin.Spec.Template.Spec.Containers[0].Image = "nginx:2"
			c.Create(twin, "")
			key := web
			key.Name = "twin"
			for range 8 {
				c.KubeletStep()
				_, err := c.reconciler.Reconcile(t.Context(), key)
				c.Must(err)
				synctest.Wait()
			}
			if diff := cmp.Diff([]string{"twin-0 nginx:2", "twin-1 nginx:2", "web-0 nginx:1", "web-1 nginx:1", "web-2 nginx:1"}, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if requests := c.Settle(); len(requests) > 0 {
				t.Errorf("the first one does %v", requests)
			}
		})
	})
	t.Run("a pod whose labels leave the selector is released, and in the way until it is gone", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(2, "")
			c.Settle()
			c.PatchPod("web-1", `{"metadata":{"labels":{"app":"debug"}}}`)
			c.Settle()
			if pod := c.pod("web-1"); len(pod.OwnerReferences) > 0 || pod.DeletionTimestamp != nil {
				t.Errorf("owners %v, deleted %v", pod.OwnerReferences, pod.DeletionTimestamp)
			}
			if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedCreatePod: create pod web-1: ") {
				t.Errorf("conditions %q", got)
			}
			c.DeletePod("web-1")
			c.Settle()
			c.whole()
			if got := c.Conditions(); len(got) > 0 {
				t.Errorf("conditions %q", got)
			}
		})
	})
}

// TestAdoption is about what has no controller, as after a deletion with
// --cascade=orphan.
func TestAdoption(t *testing.T) {
	orphaned := func(c *cluster) {
		c.create(3, withClaims)
		c.Settle()
		c.Orphan()
		c.MustReconcile()
		c.create(3, withClaims)
	}
	t.Run("pods and revisions are adopted, and no pod is restarted", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			orphaned(c)
			before := c.Pods()
			want := []string{"1 get statefulsets", "1 patch controllerrevisions", "3 patch pods", "2 patch statefulsets/status"}
			if diff := cmp.Diff(want, c.Settle()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			c.whole()
			for i, pod := range c.Pods() {
				if pod.UID != before[i].UID || len(pod.OwnerReferences) != 1 || pod.OwnerReferences[0].APIVersion != "apps.kruise.io/v1beta1" ||
					!metav1.IsControlledBy(&pod, c.get()) {
					t.Errorf("pod %s, owners %v", pod.Name, pod.OwnerReferences)
				}
			}
		})
	})
	for _, test := range []struct {
		name string
		live func(*cluster)
	}{
		{"is gone", func(c *cluster) { c.Delete() }},
		{"has another UID", func(c *cluster) { c.Delete(); c.create(3, withClaims) }},
		{"is being deleted", func(c *cluster) {
			c.Edit(`{"metadata":{"finalizers":["example.com/hold"]}}`)
			c.Delete()
		}},
	} {
		t.Run("nothing is adopted when the StatefulSet by now "+test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				orphaned(c)
				c.Hold("statefulsets")
				test.live(c)
				requests, _, err := c.ReconcileOnce()
				if err == nil || !strings.Contains(err.Error(), "adopt") {
					t.Errorf("error %v", err)
				}
				for _, request := range requests {
					if strings.Contains(request, "pods") || strings.Contains(request, "controllerrevisions") {
						t.Errorf("request %s", request)
					}
				}
				for _, pod := range c.Pods() {
					if len(pod.OwnerReferences) > 0 {
						t.Errorf("pod %s, owners %v", pod.Name, pod.OwnerReferences)
					}
				}
				if n := c.Events.Count("FailedCreate"); n > 0 {
					t.Errorf("events %q", c.Events.All())
				}
			})
		})
	}
}
