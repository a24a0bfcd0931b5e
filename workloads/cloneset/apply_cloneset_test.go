// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestRevisions is about names of revisions that are taken. (CS-CR5)
func TestRevisions(t *testing.T) {
	// taken creates a revision in place of the one that the CloneSet needs.
	taken := func(c *cluster, edit func(*appsv1.ControllerRevision)) string {
		c.T.Helper()
		plan, err := c.Reconciler.Plan(context.Background(), web)
		if err != nil {
			c.T.Fatal(err)
		}
		r := plan.Revisions.Create.DeepCopy()
		edit(r)
		if _, err := c.Kube.AppsV1().ControllerRevisions("default").Create(c.T.Context(), r, metav1.CreateOptions{}); err != nil {
			c.T.Fatal(err)
		}
		return r.Name
	}
	for _, test := range []struct {
		name      string
		edit      func(*appsv1.ControllerRevision)
		collision int32
	}{
		{"CS-CR5: other data collides", func(r *appsv1.ControllerRevision) {
			r.Data = runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"$patch":"replace","spec":{"containers":[{"image":"other","name":"main","resources":{}}]}}}}`)}
			r.OwnerReferences, r.Labels = nil, nil
		}, 1},
		{"CS-CR5: equal data is used", func(*appsv1.ControllerRevision) {}, 0},
		{"CS-CR4, CS-CR5: equal data of nobody is used", func(r *appsv1.ControllerRevision) { r.OwnerReferences = nil }, 0},
		{"CS-CR4: equal data of nobody that the selector does not select collides", func(r *appsv1.ControllerRevision) {
			r.OwnerReferences, r.Labels = nil, nil
		}, 1},
		{"CS-CR4: equal data of another owner collides", func(r *appsv1.ControllerRevision) { r.OwnerReferences[0].UID = "other" }, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(2, "")
				c.Hold("controllerrevisions")
				name := taken(c, test.edit)
				c.MustReconcile()
				c.Release("controllerrevisions")
				c.Settle()
				status := c.get().Status
				if got := deref(status.CollisionCount); got != test.collision {
					t.Errorf("collisionCount %d, want %d", got, test.collision)
				}
				if (status.UpdateRevision == name) != (test.collision == 0) || status.UpdatedReadyReplicas != 2 {
					t.Errorf("the taken name is %s, status %+v", name, status)
				}
			})
		})
	}
}

func deref(count *int32) int32 {
	if count == nil {
		return 0
	}
	return *count
}

// CS-3(g): podsToDelete loses the names of pods that are gone, and nothing else changes.
func TestPodsToDeleteArePruned(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, `{"spec":{"newer":{"a":[1]},"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","newer":true}],"newer":"x"}}}}`)
		c.Settle()
		before, names := c.Raw()["spec"].(map[string]any), c.PodNames()
		c.Edit(`{"spec":{"replicas":2,"scaleStrategy":{"podsToDelete":["` + names[1] + `"]}}}`)
		c.Settle()
		if diff := cmp.Diff([]string{names[0], names[2]}, c.PodNames()); diff != "" {
			t.Errorf("pods (-want +got):\n%s", diff)
		}
		before["replicas"] = 2.0
		before["scaleStrategy"] = map[string]any{}
		after := c.Raw()["spec"].(map[string]any)
		if left, _ := after["scaleStrategy"].(map[string]any)["podsToDelete"].([]any); len(left) > 0 {
			t.Errorf("podsToDelete %v", left)
		}
		after["scaleStrategy"] = map[string]any{}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("spec (-want +got):\n%s", diff)
		}
	})
}
