// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// TestRestartBetweenTheWritesOfAnUpdate: IP-14. A container that is restarted between the
// writes that begin an update, with the image before, is not taken for the updated one.
func TestRestartBetweenTheWritesOfAnUpdate(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, `{"spec":{"updateStrategy":{"type":"InPlaceOnly"}}}`)
		c.Settle()
		c.SetImage("nginx:2")
		restarted := false
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch pods" && !restarted {
				restarted = true
				pod := c.Pods()[0]
				pod.Status.ContainerStatuses[0].RestartCount++
				pod.Status.ContainerStatuses[0].ContainerID += "-again"
				_, err := c.Client("kubelet").CoreV1().Pods(pod.Namespace).UpdateStatus(context.Background(), &pod, metav1.UpdateOptions{})
				c.Must(err)
			}
			return nil
		})
		c.MustFailReconcile(apierrors.IsConflict)
		updated := false
		for range 4 { // and no kubelet acts
			c.MustReconcile()
			pod := c.Pods()[0]
			if pod.Spec.Containers[0].Image != "nginx:2" {
				continue
			}
			updated = true
			if gate := readiness.Condition(&pod, inplacev1alpha1.InPlaceUpdateReady); gate.Status != corev1.ConditionFalse {
				t.Fatalf("the pod is back in service, and its container runs %s", pod.Status.ContainerStatuses[0].Image)
			}
		}
		if !restarted || !updated {
			t.Errorf("restarted %t, updated %t", restarted, updated)
		}
		c.Settle()
		if status := c.get().Status; status.UpdatedReadyReplicas != 1 {
			t.Errorf("status %+v", status)
		}
	})
}
