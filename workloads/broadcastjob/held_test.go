// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// BJ-31: a pod that does not start holds the job up, which says so after a minute, and one that runs for long does not.
func TestHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.ends = func(string) (corev1.PodPhase, bool) { return corev1.PodSucceeded, false }
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		c.Sleep("1s")
		c.nodeStep()
		for _, pod := range c.Pods() {
			if pod.Spec.NodeName == "n2" {
				c.PatchPod(pod.Name, `{"status":{"phase":"Pending","containerStatuses":[{"name":"main","image":"job:1","state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}]}}`, "status")
			}
		}
		c.ExpectHeldUp("Image: node n2: pod " + podOf(c, "n2") + ": container main of image job:1: ErrImagePull: not found")
		c.PatchPod(podOf(c, "n2"), `{"status":{"phase":"Running","containerStatuses":[{"name":"main","image":"job:1","ready":true,"state":{"running":{}}}]}}`, "status")
		if c.Sleep("1h"); c.HeldUp() != "" {
			t.Errorf("a pod that runs: %s", c.HeldUp())
		}
	})
}

// BJ-31: a pod that tolerates that its node cannot be reached holds the job up until the node is back.
func TestHeldUpByANodeThatIsAway(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		c.ends = func(string) (corev1.PodPhase, bool) { return corev1.PodSucceeded, false }
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"template":{"spec":{"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists"}]}}}}`)
		c.Sleep("1s")
		c.nodeStep()
		taint := func(taints string) {
			_, err := c.Kube.CoreV1().Nodes().Patch(t.Context(), "n2", types.StrategicMergePatchType, []byte(`{"spec":{"taints":`+taints+`}}`), metav1.PatchOptions{})
			c.Must(err)
		}
		taint(`[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}]`)
		c.ExpectHeldUp("NodeAway: node n2: the node cannot be reached: whether its pod goes on is not known")
		taint("null")
		if c.Sleep("10m"); c.HeldUp() != "" {
			t.Errorf("once the node is back: %s", c.HeldUp())
		}
	})
}

// BJ-31: a pause holds up a job that has nodes without a pod.
func TestHeldUpByThePause(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1", "n2")
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{"spec":{"paused":true}}`)
		c.ExpectHeldUp("Paused: spec.paused is true")
	})
}

// BJ-31: a pause is noted beside a pod that does not start, and told at once when the pod runs.
func TestHeldUpByThePauseBesideAPod(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.ends = func(string) (corev1.PodPhase, bool) { return corev1.PodSucceeded, false }
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		c.Sleep("1s")
		c.nodeStep()
		c.PatchPod(podOf(c, "n1"), `{"status":{"phase":"Pending","containerStatuses":[{"name":"main","image":"job:1","state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}]}}`, "status")
		c.Edit(`{"spec":{"paused":true}}`)
		c.addNodes("n2")
		c.Sleep("10m")
		c.PatchPod(podOf(c, "n1"), `{"status":{"phase":"Running","containerStatuses":[{"name":"main","image":"job:1","ready":true,"state":{"running":{}}}]}}`, "status")
		c.Sleep("10s")
		if got, want := c.HeldUp(), "Paused: spec.paused is true"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// BJ-31: a pod that cannot be created holds up the job.
func TestHeldUpByAMissingPod(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "create pods" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("exceeded quota"))
			}
			return nil
		})
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		c.Sleep("30s")
		if got := c.HeldUp(); got != "" {
			t.Errorf("before a minute is over: %s", got)
		}
		c.Sleep("10m")
		if got, want := c.HeldUp(), "PodMissing: node n1: the pod cannot be created, events say why"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c.FailBefore(nil)
		c.Sleep("10m")
		c.nodeStep()
		if c.Sleep("2m"); c.HeldUp() != "" {
			t.Errorf("once it is created: %s", c.HeldUp())
		}
	})
}

func podOf(c *cluster, node string) string {
	for _, pod := range c.Pods() {
		if pod.Spec.NodeName == node {
			return pod.Name
		}
	}
	return ""
}
