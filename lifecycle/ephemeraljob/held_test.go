// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EJ-26: a pod without a node holds the job up, which says so after a minute; a pause does, and containers that run do not.
func TestHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.ends = func(string, string) string { return "running" }
		_, stop := c.start()
		defer stop()
		c.addPods("web-1")
		c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: "web-2", Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}})
		c.Create(testJob("web"), `{"spec":{"parallelism":5}}`)
		c.Sleep("2s")
		c.nodeStep()
		c.ExpectHeldUp("NotStarted: pod web-2: it has no node")
		c.EditNamed("web", `{"spec":{"paused":true}}`)
		c.Sleep("1h")
		if got := c.HeldUp(); got != "NotStarted: pod web-2: it has no node" {
			t.Errorf("a pause beside a pod: %s", got)
		}
		c.DeletePod("web-2")
		c.nodeStep()
		c.Sleep("61s")
		if got := c.HeldUp(); got != "Paused: spec.paused is true" {
			t.Errorf("the pause alone: %s", got)
		}
		c.EditNamed("web", `{"spec":{"paused":false}}`)
		if c.Sleep("1h"); c.HeldUp() != "" {
			t.Errorf("a container that runs: %s", c.HeldUp())
		}
	})
}
