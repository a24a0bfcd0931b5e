// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// heldUp shows what the marker games says of what holds it up, and its condition.
func (c *cluster) heldUp() (text string, condition metav1.Condition) {
	c.Helper()
	m, err := c.markers.Get(c.Context(), "games", metav1.GetOptions{})
	c.must(err)
	for _, condition := range m.Status.Conditions {
		if condition.Type == "HeldUp" {
			return condition.Reason + ": " + condition.Message, condition
		}
	}
	return "", condition
}

// PPM-2.7: what holds a marker up is told after a minute, keeps its time while it lasts, costs nothing more, and is not told any more once it is over.
func TestHeldUp(t *testing.T) {
	for _, test := range []struct {
		name         string
		begins, ends func(c *cluster)
		want         string
	}{
		{"no agent", func(c *cluster) { c.mark("games", "web", idle) }, func(c *cluster) { c.agent("n1", v1alpha1.ProbeSucceeded) },
			"NoResult: pod web-0: probe idle has no result: the agent of node n1 has not reported one"},
		{"a result that is unknown", func(c *cluster) {
			c.mark("games", "web", idle)
			c.agent("n1", v1alpha1.ProbeUnknown)
		}, func(c *cluster) { c.agent("n1", v1alpha1.ProbeFailed) }, "NoResult: pod web-0: probe idle has no result: it is not known"},
		{"a container that no pod has", func(c *cluster) {
			c.mark("games", "web", `[{name: idle, containerName: mian, podConditionType: Idle, probe: {exec: {command: [/idle]}}}]`)
		}, func(c *cluster) {
			c.edit(`[{"op":"replace","path":"/spec/probes/0/containerName","value":"main"},{"op":"remove","path":"/spec/probes/0/podConditionType"}]`)
		}, "NoSuchContainer: probe idle: none of 1 pods has a container mian"},
		{"a finalizer of another one", func(c *cluster) {
			c.mark("games", "web", `[{name: idle, containerName: main, probe: {exec: {command: [/idle]}}}]`)
			c.edit(`[{"op":"add","path":"/metadata/finalizers/-","value":"acme.io/hold"}]`)
			c.must(c.markers.Delete(c.Context(), "games", metav1.DeleteOptions{}))
		}, nil, "Finalizer: it is being deleted, and has the finalizers acme.io/hold"},
	} {
		t.Run(test.name, func(t *testing.T) {
			play(t, func(c *cluster) {
				c.addNode("n1")
				c.addPod("n1", "web-0", "web")
				c.pause(time.Second)
				test.begins(c)
				c.pause(30 * time.Second)
				if got, _ := c.heldUp(); got != "" {
					t.Errorf("before a minute is over: %s", got)
				}
				c.pause(31 * time.Second)
				got, standing := c.heldUp()
				if got != test.want {
					t.Errorf("after a minute:\n%s\nwant\n%s", got, test.want)
				}
				c.sent()
				c.pause(10 * time.Minute)
				if sent := c.sent(); len(sent) > 0 {
					t.Errorf("requests while it lasts: %v", sent)
				}
				if _, now := c.heldUp(); now != standing {
					t.Errorf("the condition was %v, and is %v", standing, now)
				}
				if test.ends == nil {
					return
				}
				test.ends(c)
				c.pause(2 * time.Minute)
				if got, _ := c.heldUp(); got != "" {
					t.Errorf("once it is over: %s", got)
				}
			})
		})
	}
}

// edit changes the marker games by a JSON patch.
func (c *cluster) edit(patch string) {
	c.Helper()
	_, err := c.markers.Patch(c.Context(), "games", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	c.must(err)
}

// PPM-2.7: with all results nothing does, and no request is made.
func TestHeldUpByNothing(t *testing.T) {
	play(t, func(c *cluster) {
		c.addNode("n1")
		for i := range 3 {
			c.addPod("n1", fmt.Sprint("web-", i), "web")
		}
		c.mark("games", "web", idle)
		c.agent("n1", v1alpha1.ProbeSucceeded)
		c.pause(time.Second)
		c.sent()
		c.pause(10 * time.Minute)
		if got, _ := c.heldUp(); got != "" {
			t.Error(got)
		}
		if sent := c.sent(); len(sent) > 0 {
			t.Errorf("requests: %v", sent)
		}
	})
}
