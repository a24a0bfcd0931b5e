// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/image/nodeimage"
)

// IMG-1.9: a job that is paused says so after a minute, since when that is, and nothing else once it goes on.
func TestHeldUp(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.begin(2)
		began := time.Now().UTC().Format(time.RFC3339)
		c.addJob("web", "image: web:1\nparallelism: 0")
		c.pause(50 * time.Second)
		const progress = "job is running, progress 0.0%"
		if got := c.job("web").Status.Message; got != progress {
			t.Errorf("before a minute is over: %s", got)
		}
		c.pause(20 * time.Second)
		if got, want := c.job("web").Status.Message, progress+"; held up since "+began+": Paused: spec.parallelism is 0: the job is paused"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// tagMessage is what the NodeImage of the node says of the tag 1 of an image.
func (c *cluster) tagMessage(image string) string {
	c.Helper()
	for _, tag := range c.nodeImage("n0000").Status.ImageStatuses[image].Tags {
		return tag.Message
	}
	return ""
}

// heldFrom checks that a tag says what holds it up, from a minute after its job was created. It also checks that this costs
// nothing more while it lasts.
func (c *cluster) heldFrom(image string, began time.Time, want string) {
	c.Helper()
	if got := c.tagMessage(image); got != "" {
		c.Errorf("before a minute is over: %s", got)
	}
	c.pause(time.Until(began.Add(61 * time.Second)))
	if want = fmt.Sprintf("held up since %s: %s", began.UTC().Format(time.RFC3339), want); c.tagMessage(image) != want {
		c.Errorf("after a minute: %s\nwant %s", c.tagMessage(image), want)
	}
	c.ForgetRequests()
	c.pause(5 * time.Minute)
	c.expectSent("while it lasts", nil, []string{})
	if got := c.tagMessage(image); got != want {
		c.Errorf("six minutes later: %s\nwant %s", got, want)
	}
}

// IMG-4.4: a task whose namespace has as many pods as may be says that it waits for its turn, and nothing once it has it.
func TestPullPodsHeldUp(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.nodeOptions.PullPods = &nodeimage.PullPods{PauseImage: "pause:1", PerNamespace: 1}
		c.jobOptions.ReferToSourceSecrets = true
		c.begin(1)
		c.addJob("first", "")
		c.pause(10 * time.Second)
		c.kubelet(&corev1.ContainerStateWaiting{Reason: "ContainerCreating"})
		began := time.Now()
		c.addJob("second", "image: redis:7")
		c.pause(30 * time.Second)
		c.heldFrom("redis", began, "PullSlot: image redis:7: 1 pods of namespace default pull on the node, which is as many as may be")
		c.kubelet(nil)
		c.pause(time.Second)
		if got := c.tagMessage("redis"); got != "" {
			t.Errorf("once it has its turn: %s", got)
		}
		c.kubelet(nil)
		c.expectMessage("second", "job has completed")
	})
}

// IMG-4.4: a task whose pod no scheduler places says so.
func TestUnscheduledPullPod(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.beginPulling()
		began := time.Now()
		c.addJob("pull", "")
		c.pause(time.Second)
		pod := &c.pullPods()[0]
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "too many pods"}}
		_, err := c.kube.CoreV1().Pods(namespace).UpdateStatus(c.Context(), pod, metav1.UpdateOptions{})
		c.must(err)
		c.pause(30 * time.Second)
		c.heldFrom("nginx", began, "Unschedulable: pod "+pod.Name+" is not scheduled: too many pods")
		c.kubelet(nil)
		c.expectMessage("pull", "job has completed")
	})
}

// IMG-4.4: a task whose node is away while it waits for its turn says so.
func TestPullPodsOfANodeThatIsAway(t *testing.T) {
	play(t, func(t *testing.T, c *cluster) {
		c.nodeOptions.PullPods = &nodeimage.PullPods{PauseImage: "pause:1", PerNamespace: 1}
		c.jobOptions.ReferToSourceSecrets = true
		c.begin(1)
		c.addJob("first", "")
		c.addJob("second", "image: redis:7")
		c.pause(10 * time.Second)
		began := time.Now()
		c.setReady("n0000", corev1.ConditionUnknown)
		c.pause(30 * time.Second)
		c.heldFrom("redis", began, "NodeAway: node n0000: it is not ready")
		c.setReady("n0000", corev1.ConditionTrue)
		c.pause(time.Second)
		if got := c.tagMessage("redis"); strings.Contains(got, "NodeAway") {
			t.Errorf("once it is ready: %s", got)
		}
	})
}

// setReady has the node be ready, or not, from now on.
func (c *cluster) setReady(name string, status corev1.ConditionStatus) {
	c.Helper()
	node, err := c.kube.CoreV1().Nodes().Get(c.Context(), name, metav1.GetOptions{})
	c.must(err)
	node.Status.Conditions[0].Status, node.Status.Conditions[0].LastTransitionTime = status, metav1.Now()
	_, err = c.kube.CoreV1().Nodes().UpdateStatus(c.Context(), node, metav1.UpdateOptions{})
	c.must(err)
}
