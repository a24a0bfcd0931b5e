// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. The option "resize" has pods resized in place. With a reason, the node n2
// gives it and does not resize its first pod. The option "budget" denies the pod that "denies" names; "asked" shows how often it was asked
// about it. "rejects image n" has kubelets reject the pods of an image for n seconds.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", setResource, func(f *fixture.Cluster) *fixture.Story {
		c := newCluster(f)
		s := c.Story(func(int32) any { return testSet(web.Name) })
		s.Option, s.Node = c.option, newNode
		s.Further["rejects"] = c.rejects
		s.Further["denies"] = func(words ...string) string { c.denied = words[0]; return "" }
		s.Further["asked"] = func(...string) string { return fmt.Sprintln(c.asked) }
		return s
	})
}

// rejects has the kubelets reject each pod of an image, for so many seconds.
func (c *cluster) rejects(words ...string) string {
	seconds, err := strconv.Atoi(words[1])
	c.Must(err)
	for range seconds {
		for _, pod := range c.Pods() {
			if pod.Spec.Containers[0].Image == words[0] && pod.Status.Phase != corev1.PodFailed && pod.DeletionTimestamp == nil {
				c.PatchPod(pod.Name, `{"status":{"phase":"Failed","reason":"OutOfcpu","message":"Node has no room"}}`, "status")
			}
		}
		c.KubeletStep()
		c.Sleep("1s")
	}
	return ""
}

func (c *cluster) option(name, value string) {
	switch name {
	case "resize":
		first := ""
		c.Options.Features.InPlaceResize = true
		c.Kubelet.Resize = func(pod *corev1.Pod) string {
			if pod.Spec.NodeName != "n2" {
				return ""
			}
			if first == "" {
				first = pod.Name
			}
			if pod.Name != first {
				return ""
			}
			return value
		}
	case "budget":
		c.Options.Budget = &fixture.Budget{Denies: func(pod *corev1.Pod) bool {
			if pod.Name == c.denied {
				c.asked++
			}
			return pod.Name == c.denied
		}}
	default:
		c.Option(name, value)
	}
}
