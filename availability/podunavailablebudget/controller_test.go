// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

func annotated(key, value string) func(*v1alpha1.PodUnavailableBudget) {
	return func(b *v1alpha1.PodUnavailableBudget) { b.Annotations = map[string]string{key: value} }
}

// A pod is judged as the API server judges it, the time it takes included.
func (c *cluster) livePod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// TestReconcileByHand runs a Reconciler without a loop.
func TestReconcileByHand(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		controller, err := New(c.options)
		c.Must(err)
		defer c.Start(controller.Run)()
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		for range 2 {
			if plan, err := controller.Plan(t.Context(), key); plan != nil || err != nil {
				t.Errorf("plan %v, error %v", plan, err)
			}
			if s, err := controller.Snapshot(t.Context(), key); s != nil || err != nil {
				t.Errorf("snapshot %v, error %v", s, err)
			}
			if after, err := controller.Reconcile(t.Context(), key); after != 0 || err != nil {
				t.Errorf("again after %v, error %v", after, err)
			}
		}
		c.cloneSet(1)
		c.createBudget(newBudget("web", "1"))
		c.webPods("a")
		c.Sleep("1s")
		if plan, err := controller.Plan(t.Context(), key); err != nil || plan.String() != "" || plan.Computed.CurrentAvailable != 1 {
			t.Errorf("plan %v, error %v", plan, err)
		}
		time.Sleep(time.Second)
	})
}
