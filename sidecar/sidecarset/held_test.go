// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SCS-27: a pod whose own application crashes holds the place of others; the status names it.
func TestHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("", "web-a", "web-b", "web-c")
		c.Settle()
		crash := func() {
			c.PatchPod("web-b", `{"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"ContainersReady","status":"False"}],
			"containerStatuses":[{"name":"main","image":"nginx:1","state":{"waiting":{"reason":"CrashLoopBackOff"}}},{"name":"log","image":"log:1","imageID":"sha256:log:1","ready":true}]}}`, "status")
		}
		crash()
		_, stop := c.start()
		defer stop()
		c.setLog("log:2")
		c.Sleep("1s")
		c.KubeletStep()
		crash()
		c.ExpectHeldUp("CrashLoop: pod default/web-b: container main of image nginx:1: CrashLoopBackOff; maxUnavailable 1: 1 pod out of service because of updates")
	})
}

// SCS-27: a namespace that does not exist is told until it does.
func TestHeldUpByItsNamespace(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("namespace: shop")
		_, stop := c.start()
		defer stop()
		c.ExpectHeldUp("BadValue: spec.namespace is shop, and there is no such namespace")
		_, err := c.Kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{})
		c.Must(err)
		if c.Sleep("1m"); c.HeldUp() != "" {
			t.Errorf("the namespace is there: %s", c.HeldUp())
		}
	})
}
