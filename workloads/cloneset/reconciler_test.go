// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestForeignObjects is about objects that belong to other owners.
func TestForeignObjects(t *testing.T) {
	t.Run("CS-1: pods that only match by label are never touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			stranger := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "stranger", Labels: map[string]string{"app": "web"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "other"}}}}
			if _, err := c.Kube.CoreV1().Pods("default").Create(t.Context(), stranger, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			c.create(2, "")
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
}
