// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

const inPlace = `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible"}}}`

// TestRequests counts what 20 pods cost. Beside the requests per pod there is
// one for the status of the CloneSet whenever its numbers have changed.
func TestRequests(t *testing.T) {
	const pods = 20
	for _, test := range []struct {
		name  string
		setup func(*cluster)
		want  []string
	}{
		{"creation: 2 per pod", func(c *cluster) { c.create(pods, inPlace) },
			[]string{"1 create controllerrevisions", "20 create pods", "2 patch clonesets/status", "20 patch pods/status"}},
		{"update in place: 3 per pod", func(c *cluster) { c.create(pods, inPlace); c.Settle(); c.SetImage("nginx:2") },
			[]string{"1 create controllerrevisions", "11 patch clonesets/status", "20 patch pods", "40 patch pods/status"}},
		{"update by recreation: 3 per pod", func(c *cluster) { c.create(pods, ""); c.Settle(); c.SetImage("nginx:2") },
			[]string{"1 create controllerrevisions", "20 create pods", "20 delete pods", "17 patch clonesets/status", "20 patch pods/status"}},
		{"scale-in: 1 per pod", func(c *cluster) { c.create(pods, inPlace); c.Settle(); c.Edit(`{"spec":{"replicas":5}}`) },
			[]string{"15 delete pods", "2 patch clonesets/status"}},
		{"restart of the controller: none", func(c *cluster) {
			c.create(pods, inPlace)
			c.Settle()
			c.restart()
		}, []string{}},
		{"a changed annotation of the CloneSet: none (CS-E13)", func(c *cluster) {
			c.create(pods, inPlace)
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
				if set := c.get(); set.Status.AvailableReplicas != *set.Spec.Replicas || len(set.Status.Conditions) > 0 {
					t.Errorf("status %+v", set.Status)
				}
			})
		})
	}
}

// TestConsistency holds back what the caches would see, after a reconcile has written.
func TestConsistency(t *testing.T) {
	for _, test := range []struct {
		name  string
		setup func(*cluster)
		want  []string // requests of the one reconcile that writes
	}{
		{"creation", func(c *cluster) { c.create(5, "") },
			[]string{"1 create controllerrevisions", "5 create pods", "1 patch clonesets/status"}},
		{"deletion", func(c *cluster) { c.create(5, ""); c.Settle(); c.Edit(`{"spec":{"replicas":3}}`) },
			[]string{"2 delete pods", "1 patch clonesets/status"}},
		{"update", func(c *cluster) {
			c.create(5, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":2}}}`)
			c.Settle()
			c.SetImage("nginx:2")
		}, []string{"1 create controllerrevisions", "1 patch clonesets/status", "2 patch pods", "2 patch pods/status"}},
	} {
		t.Run("CS-2, LC-6: after a "+test.name+" nothing is done until the cache shows it", func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				test.setup(c)
				c.Hold("pods")
				if diff := cmp.Diff(test.want, c.MustReconcile()); diff != "" {
					t.Fatalf("requests of the first reconcile (-want +got):\n%s", diff)
				}
				for range 3 {
					requests, after, err := c.ReconcileOnce()
					if len(requests) > 0 || after != controller.StaleRetry || err != nil {
						t.Errorf("stale: %v, again after %v, error %v", requests, after, err)
					}
				}
				c.Release("pods")
				c.Settle()
				if set := c.get(); set.Status.UpdatedReadyReplicas != *set.Spec.Replicas || len(c.Pods()) != int(*set.Spec.Replicas) {
					t.Errorf("%d pods, status %+v", len(c.Pods()), set.Status)
				}
			})
		})
	}
	t.Run("CS-2: a partly stale cache is stale", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, "")
			c.Hold("pods")
			c.MustReconcile()
			c.ReleaseNext("pods", 2)
			if requests := c.MustReconcile(); len(requests) > 0 {
				t.Errorf("requests %v", requests)
			}
		})
	})
	t.Run("CS-2: nor is it done while the cache has not seen the status", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, "")
			c.Hold("clonesets")
			c.MustReconcile()
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
			c.DeletePod(c.PodNames()[0])
			c.Release("pods")
		}},
		{"a watch that is dropped, and a new list that never shows a pod", func(c *cluster) {
			c.create(3, "")
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
			c.create(3, `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
			c.Hold("persistentvolumeclaims")
			c.Hold("controllerrevisions")
			c.MustReconcile()
			c.Relist("persistentvolumeclaims")
			c.Relist("controllerrevisions")
		}},
		{"a CloneSet that is deleted and created again is another one", func(c *cluster) {
			c.create(3, "")
			c.Settle()
			c.Delete()
			if requests := c.MustReconcile(); len(requests) > 0 {
				c.T.Errorf("requests about a CloneSet that is gone: %v", requests)
			}
			c.create(2, "")
			for range 3 { // the name of the revision is taken, too
				c.MustReconcile()
			}
			if n := len(c.Pods()); n != 5 {
				c.T.Errorf("%d pods, want the 3 of the former and 2 new ones", n)
			}
			c.CollectGarbage()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				test.story(c)
				c.Settle()
				if set := c.get(); set.Status.AvailableReplicas != *set.Spec.Replicas || len(c.Pods()) != int(*set.Spec.Replicas) {
					t.Errorf("%d pods, status %+v", len(c.Pods()), set.Status)
				}
			})
		})
	}
}

// TestForeignObjects is about objects that belong to other owners.
func TestForeignObjects(t *testing.T) {
	t.Run("CS-1: pods that only match by label are never touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stranger", Labels: map[string]string{"app": "web"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "other"}}}}
			if _, err := c.Kube.CoreV1().Pods("default").Create(t.Context(), stranger, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.create(2, inPlace)
			c.Settle()
			c.SetImage("nginx:2")
			c.Settle()
			c.Edit(`{"spec":{"replicas":0}}`)
			c.Settle()
			pods := c.Pods()
			if len(pods) != 1 || pods[0].Name != "stranger" || len(pods[0].Labels) != 1 || len(pods[0].OwnerReferences) != 0 {
				t.Errorf("pods %v", pods)
			}
			for _, r := range c.Requests(fixture.ControllerUser) {
				if strings.Contains(r.Name, "stranger") {
					t.Errorf("request %s %s", r.String(), r.Name)
				}
			}
		})
	})
	t.Run("CS-E21: two CloneSets with overlapping selectors do not fight", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, inPlace)
			c.Settle()
			twin := c.get()
			twin.ObjectMeta = metav1.ObjectMeta{Namespace: "default", Name: "twin"}
			twin.Status = *twin.Status.DeepCopy()
			twin.Spec.Template.Spec.Containers[0].Image = "nginx:2"
			if _, err := c.sets.Create(t.Context(), twin, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			key := web
			key.Name = "twin"
			for range 6 {
				c.KubeletStep()
				if _, err := c.reconciler.Reconcile(t.Context(), key); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			if n := len(c.Pods()); n != 6 {
				t.Errorf("%d pods, want 6", n)
			}
			if requests := c.Settle(); len(requests) > 0 {
				t.Errorf("the first one does %v", requests)
			}
			if status := c.get().Status; status.Replicas != 3 || status.UpdatedReplicas != 3 {
				t.Errorf("status %+v", status)
			}
		})
	})
	t.Run("a pod whose labels leave the selector is released, and replaced", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(2, "")
			c.Settle()
			name := c.PodNames()[0]
			c.PatchPod(name, `{"metadata":{"labels":{"app":"debug"}}}`)
			c.Settle()
			released, err := c.Kube.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || len(released.OwnerReferences) > 0 {
				t.Errorf("error %v, owners %v", err, released.OwnerReferences)
			}
			if n := len(c.Pods()); n != 3 {
				t.Errorf("%d pods, want 3", n)
			}
		})
	})
}
