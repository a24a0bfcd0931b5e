// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. The option "resize" has pods resized in place. With a reason, the node n2
// gives it and does not resize its first pod. "measured" shows what SetMetrics were told last since this was asked.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", setResource, func(f *fixture.Cluster) *fixture.Story {
		c := newCluster(f)
		s := c.Story(func(int32) any { return testSet(web.Name) })
		s.Option, s.Node = c.option, newNode
		s.Further["measured"] = func(...string) string {
			defer func() { c.measured = nil }()
			return append(measured{"nothing"}, c.measured...)[len(c.measured)] + "\n"
		}
		return s
	})
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
	default:
		c.Option(name, value)
	}
}
