// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestConflicts has another writer be faster.
func TestConflicts(t *testing.T) {
	t.Run("a status is not written over a spec that has changed in between", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(2, withParallel)
			once, _ := fixture.Once(fixture.Fail("patch statefulsets/status", errors.New("now")))
			c.FailBefore(func(r fakecluster.Request) error {
				if once(r) != nil {
					c.Edit(`{"spec":{"replicas":3}}`)
				}
				return nil
			})
			c.MustFailReconcile(apierrors.IsConflict)
			c.Settle()
			c.whole()
		})
	})
	for _, test := range []struct {
		name   string
		change func(*cluster)
	}{
		{"a stale plan to delete", func(c *cluster) { c.Edit(`{"spec":{"replicas":0}}`) }},
		{"a stale plan to update in place", func(c *cluster) { c.SetImage("nginx:2") }},
		{"a stale plan to label", func(c *cluster) {
			c.Edit(`{"spec":{"replicas":0,"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}}}}}`)
		}},
		{"a stale plan to release", func(c *cluster) {
			c.PatchPod("web-0", `{"metadata":{"labels":{"app":"other"}}}`)
			c.PatchPod("web-1", `{"metadata":{"labels":{"app":"other"}}}`)
		}},
	} {
		t.Run(test.name+" does not touch the user's pods that have the names by now", func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(2, spec(c, withParallel, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`))
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
				if got := strings.Join(c.Conditions(), ""); strings.Contains(got, "FailedUpdatePod") {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
	t.Run("a stale plan to own a claim does not touch the claim that has the name by now", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, withClaims)
			c.Settle()
			c.Edit(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`)
			c.Hold("persistentvolumeclaims")
			c.deleteClaim("data-web-0")
			c.createClaim("data-web-0", "")
			_, _, _ = c.ReconcileOnce()
			if diff := cmp.Diff([]string{"data-web-0"}, c.claims()); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
			if got := c.Conditions(); len(got) > 0 {
				t.Errorf("conditions %q", got)
			}
			c.Release("persistentvolumeclaims")
			c.Settle()
			if diff := cmp.Diff([]string{"data-web-0 StatefulSet"}, c.claims()); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a pod whose claim is gone is deleted all the same", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(2, spec(c, withClaims, `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}}`))
			c.Settle()
			c.Edit(`{"spec":{"replicas":1}}`)
			c.Hold("persistentvolumeclaims")
			c.deleteClaim("data-web-1")
			c.MustReconcile()
			if c.pod("web-1").DeletionTimestamp == nil {
				t.Error("pod web-1 was not deleted")
			}
		})
	})
	t.Run("owners that others give to a claim stay", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, spec(c, withClaims, `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`))
			c.Settle()
			c.Edit(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain"}}}`)
			c.Hold("persistentvolumeclaims")
			owner := c.get().UID
			c.patchClaim("data-web-0", `{"metadata":{"ownerReferences":[
				{"apiVersion":"apps.kruise.io/v1beta1","kind":"StatefulSet","name":"web","uid":"`+string(owner)+`"},{"apiVersion":"v1","kind":"ConfigMap","name":"backup","uid":"b"}]}}`)
			c.MustReconcile()
			if diff := cmp.Diff([]string{"data-web-0 ConfigMap"}, c.claims()); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("owners follow the policy where claim templates come and go", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, spec(c, withClaims, `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`))
			c.Settle()
			c.Edit(`{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}},{"metadata":{"name":"logs"},"spec":{}}],
				"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain"}}}`)
			c.Settle()
			if diff := cmp.Diff([]string{"data-web-0"}, c.claims()); diff != "" {
				t.Errorf("a template is added: claims (-want +got):\n%s", diff)
			}
			c.Edit(`{"spec":{"volumeClaimTemplates":null,"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`)
			c.Settle()
			if diff := cmp.Diff([]string{"data-web-0 StatefulSet"}, c.claims()); diff != "" {
				t.Errorf("the templates are removed: claims (-want +got):\n%s", diff)
			}
		})
	})
	t.Run("a revision that is gone need not be adopted", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, "")
			c.Settle()
			c.Orphan()
			c.create(1, "")
			c.Hold("controllerrevisions")
			name := c.plan().Revisions.Update.Name
			c.Must(c.Kube.AppsV1().ControllerRevisions(web.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
			c.MustReconcile()
			c.Release("controllerrevisions")
			c.Settle()
			c.whole()
		})
	})
}

// TestPodsGoAfterTheirStatefulSet has the garbage collector delete pods while the cache of StatefulSets is behind. Nothing is
// created for a StatefulSet that is gone or being deleted. (STS-26)
func TestPodsGoAfterTheirStatefulSet(t *testing.T) {
	for name, finalizers := range map[string]string{"background: it is gone": `[]`, "foreground: it is on its way": `["foregroundDeletion"]`} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, spec(c, withParallel))
				c.Settle()
				c.Edit(`{"metadata":{"finalizers":` + finalizers + `}}`)
				c.Settle()
				c.Hold("statefulsets")
				c.Delete()
				names := c.PodNames()
				c.RemovePod(names[0])
				for range 3 {
					_, _, _ = c.ReconcileOnce() // fails as long as the cache is behind
				}
				if diff := cmp.Diff(names[1:], c.PodNames()); diff != "" {
					t.Errorf("pods (-want +got):\n%s", diff)
				}
			})
		})
	}
}
