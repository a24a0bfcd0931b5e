// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CS-E21: two CloneSets with overlapping selectors do not fight.
func TestTwins(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, "")
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
			if _, err := c.Reconciler.Reconcile(t.Context(), key); err != nil {
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
}
