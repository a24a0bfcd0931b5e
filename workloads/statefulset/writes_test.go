// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestRevisionNames is about names of revisions that are taken. (CS-CR5)
func TestRevisionNames(t *testing.T) {
	other := runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"image":"other","name":"main","resources":{}}]}}}}`)}
	for _, test := range []struct {
		name      string
		edit      func(*appsv1.ControllerRevision)
		collision int32
	}{
		{"CS-CR5: other data collides", func(r *appsv1.ControllerRevision) { r.Data, r.OwnerReferences, r.Labels = other, nil, nil }, 1},
		{"CS-CR5: other data of its own collides", func(r *appsv1.ControllerRevision) { r.Data = other }, 1},
		{"CS-CR5: equal data is used", func(*appsv1.ControllerRevision) {}, 0},
		{"CS-CR5: equal data of nobody is used", func(r *appsv1.ControllerRevision) { r.OwnerReferences = nil }, 0},
		{"CS-CR5: equal data of nobody that the selector does not select collides", func(r *appsv1.ControllerRevision) {
			r.OwnerReferences, r.Labels = nil, nil
		}, 1},
		{"CS-CR5: equal data of another owner collides", func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "other" }, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(2, "")
				c.Hold("controllerrevisions")
				taken := c.plan().Revisions.Create.DeepCopy()
				test.edit(taken)
				_, err := c.Kube.AppsV1().ControllerRevisions(web.Namespace).Create(t.Context(), taken, metav1.CreateOptions{})
				c.Must(err)
				c.MustReconcile()
				c.Release("controllerrevisions")
				c.Settle()
				c.whole()
				status := c.get().Status
				var got int32
				if status.CollisionCount != nil {
					got = *status.CollisionCount
				}
				if got != test.collision || (status.UpdateRevision == taken.Name) != (test.collision == 0) {
					t.Errorf("the taken name is %s, collisionCount %d, status %+v", taken.Name, got, status)
				}
			})
		})
	}
}

// TestStatusWrites is about the status, which is written when something differs.
func TestStatusWrites(t *testing.T) {
	t.Run("what somebody else writes into the status is put right at once", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			_, stop := c.start()
			defer stop()
			c.create(3, withParallel)
			c.ExpectSettled()
			for _, patch := range []string{
				`{"status":{"readyReplicas":7}}`, `{"status":{"updateRevision":"x"}}`, `{"status":{"currentRevision":"x"}}`,
				`{"status":{"updatedReadyReplicas":0}}`, `{"status":{"labelSelector":null}}`, `{"status":{"observedGeneration":0}}`,
				`{"status":{"conditions":[{"type":"FailedCreatePod","status":"True","message":"x"}]}}`, `{"status":null}`,
			} {
				c.ForgetRequests()
				c.Edit(patch, "status")
				c.Sleep("1s")
				want := []string{"1 patch statefulsets/status"}
				if strings.Contains(patch, "currentRevision") { // is it missing, or the cache behind?
					want = append([]string{"1 get controllerrevisions"}, want...)
				}
				if diff := cmp.Diff(want, c.Sent()); diff != "" {
					t.Errorf("after %s, requests (-want +got):\n%s", patch, diff)
				}
				c.whole()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			}
		})
	})
	t.Run("fields that it does not know stay", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, "")
			c.Settle()
			c.Edit(`{"status":{"newer":"x","replicas":9}}`, "status")
			if diff := cmp.Diff([]string{"1 patch statefulsets/status"}, c.Settle()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if got := c.Raw()["status"].(map[string]any)["newer"]; got != "x" {
				t.Errorf("it is %v now", got)
			}
		})
	})
	t.Run("STS-26: a StatefulSet that is being deleted has its status kept, and nothing else done", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(3, `{"metadata":{"finalizers":["example.com/hold"]}}`)
			c.Settle()
			c.Delete()
			c.DeletePod("web-1")
			c.SetImage("nginx:2")
			if diff := cmp.Diff([]string{"1 patch statefulsets/status"}, c.Settle()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"web-0 nginx:1", "web-2 nginx:1"}, c.images()); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
		})
	})
}

// TestEvents pins what events say.
func TestEvents(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		expect := func(what string, want ...string) {
			t.Helper()
			got := slices.Sorted(slices.Values(c.Events.All()))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: events (-want +got):\n%s", what, diff)
			}
			c.Events.Forget()
		}
		c.create(2, withClaims)
		c.Settle()
		expect("creation",
			"Normal SuccessfulCreate: create Claim data-web-0 Pod web-0 in StatefulSet web successful",
			"Normal SuccessfulCreate: create Claim data-web-1 Pod web-1 in StatefulSet web successful",
			"Normal SuccessfulCreate: create Pod web-0 in StatefulSet web successful",
			"Normal SuccessfulCreate: create Pod web-1 in StatefulSet web successful")
		c.PatchPod("web-1", `{"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":null}}}`)
		c.Settle()
		expect("STS-10", "Normal SuccessfulUpdate: update Pod web-1 in StatefulSet web successful")
		c.SetImage("nginx:2")
		c.Settle()
		expect("STS-E24",
			"Normal SuccessfulUpdatePodInPlace: started to update pod web-0 in place",
			"Normal SuccessfulUpdatePodInPlace: started to update pod web-1 in place")
		c.PatchPod("web-1", `{"status":{"phase":"Failed"}}`, "status")
		c.Settle()
		expect("STS-4",
			"Normal SuccessfulCreate: create Pod web-1 in StatefulSet web successful",
			"Normal SuccessfulDelete: delete Pod web-1 in StatefulSet web successful",
			"Warning RecreatingFailedPod: Pod web-1 has ended (Failed) and is recreated")
		c.Edit(`{"spec":{"replicas":0}}`)
		c.Settle()
		expect("scale-in",
			"Normal SuccessfulDelete: delete Pod web-0 in StatefulSet web successful",
			"Normal SuccessfulDelete: delete Pod web-1 in StatefulSet web successful")
	})
}

// TestRequeue is about reconciles that no event brings about.
func TestRequeue(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, `{"spec":{"updateStrategy":{"rollingUpdate":{"minReadySeconds":30}}}}`)
		for range 2 {
			c.MustReconcile()
			c.KubeletStep()
			c.MustReconcile() // sets the first conditions
			c.KubeletStep()
		}
		_, after, err := c.ReconcileOnce()
		if err != nil || after <= 0 || after > 30*time.Second {
			t.Errorf("STS-8: again after %v, error %v", after, err)
		}
		time.Sleep(after)
		c.MustReconcile()
		if n := c.get().Status.AvailableReplicas; n != 1 {
			t.Errorf("STS-8: %d pods are available, want 1", n)
		}
	})
}
