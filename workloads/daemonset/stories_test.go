// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. The option "resize" has pods resized in place. With a reason, the node n2
// gives it and does not resize its first pod. The option "budget" denies the pod that "denies" names; "asked" shows how often it was asked
// about it.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", setResource, func(f *fixture.Cluster) *fixture.Story {
		c := &cluster{Cluster: f}
		c.setUp()
		return &fixture.Story{
			New: func(int32) any { return testSet(web.Name) }, Restart: c.restart, Waiting: c.waits, Option: c.option, Node: newNode,
			Start: func() (*fixture.Reconciles, func()) { return c.start() },
			Further: map[string]func(...string) string{
				"denies": func(words ...string) string { c.options.Budget.(*allBut).denied = words[0]; return "" },
				"asked":  func(...string) string { return fmt.Sprintln(c.options.Budget.(*allBut).asked) },
			},
		}
	})
}

func (c *cluster) option(name, value string) {
	switch name {
	case "resize":
		first := ""
		c.options.Features.InPlaceResize = true
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
		c.options.Budget = &allBut{}
	}
}

// allBut denies the update of one pod.
type allBut struct {
	denied string
	asked  int
}

func (b *allBut) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	if pod.Name == b.denied {
		b.asked++
	}
	return pod.Name != b.denied, nil
}

// waits lists why pods are not as they should be.
func (c *cluster) waits() (out []string) {
	c.T.Helper()
	plan, err := c.reconciler.Plan(context.Background(), web)
	c.Must(err)
	for _, w := range plan.Waiting {
		out = append(out, fmt.Sprintf("%s: %s: %s", w.Pod.Name, w.Reason.Rule, w.Reason.Message))
	}
	slices.Sort(out)
	return out
}
