// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CS-38: the node of the pod that is updated dies, and its pods tolerate that for ever. All others are updated, never more
// than one of them out of service. Heartbeats of nodes are the reason for no reconcile.
func TestNodeIsLost(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		p, stop := c.Run(func(o *Options) { o.NoNodes = false })
		defer stop()
		c.create(4, `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1}}}`)
		c.ExpectSettled()
		for _, pod := range c.Pods() {
			_, err := c.Kube.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pod.Spec.NodeName}}, metav1.CreateOptions{})
			c.Must(err)
		}
		c.SetImage("nginx:2")
		c.Sleep("10s") // no kubelet does anything
		begun := slices.IndexFunc(c.Pods(), func(pod corev1.Pod) bool { return pod.Spec.Containers[0].Image == "nginx:2" })
		if begun < 0 {
			t.Fatal("no update has begun")
		}
		dead := c.Pods()[begun]
		patchNode := func(patch string, subresources ...string) {
			_, err := c.Kube.CoreV1().Nodes().Patch(t.Context(), dead.Spec.NodeName, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
			c.Must(err)
			synctest.Wait()
		}
		c.Sleep("1m") // until what holds up the update is told
		before := p.Count()
		for i := range 20 {
			patchNode(fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2026-01-01T00:00:%02dZ"}]}}`, i), "status")
			c.Sleep("10s")
		}
		if n := p.Count() - before; n > 0 {
			t.Errorf("%d reconciles for heartbeats", n)
		}
		taint, err := time.Now().UTC().MarshalText()
		c.Must(err)
		patchNode(fmt.Sprintf(`{"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute","timeAdded":%q}]}}`, taint))
		least := 3
		for range 60 {
			serving := 0
			for _, pod := range c.Pods() {
				if pod.Name == dead.Name {
					continue
				}
				if ready(&pod) {
					serving++
				}
				c.Must(c.Kubelet.Sync(t.Context(), pod.Namespace, pod.Name))
			}
			least = min(least, serving)
			c.Sleep("10s")
		}
		if least < 3 {
			t.Errorf("%d of the 3 pods that served are left", least)
		}
		for _, pod := range c.Pods() {
			if pod.Name != dead.Name && (pod.Status.ContainerStatuses[0].Image != "nginx:2" || !ready(&pod)) {
				t.Errorf("pod %s runs %s", pod.Name, pod.Status.ContainerStatuses[0].Image)
			}
		}
		if n := len(c.Pods()); n != 5 {
			t.Errorf("%d pods, want 4 and the dead one", n)
		}
	})
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
