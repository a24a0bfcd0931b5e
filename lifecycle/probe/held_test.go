// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// quiet is a probe whose result shows in labels alone.
const quiet = `[{name: idle, containerName: main, probe: {exec: {command: [/idle]}}, markerPolicy: [{state: Succeeded, labels: {idle: "yes"}}]}]`

// heldUp shows what the marker games says of what holds it up, and its condition.
func (c *cluster) heldUp() (text string, condition metav1.Condition) {
	c.Helper()
	m, err := c.markers.Get(c.Context(), "games", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", condition
	}
	c.must(err)
	for _, condition := range m.Status.Conditions {
		if condition.Type == "HeldUp" {
			return condition.Reason + ": " + condition.Message, condition
		}
	}
	return "", condition
}

// PPM-2.7: after a minute the condition tells what holds a marker up. The condition keeps its time while that lasts, and costs
// nothing more. Once that is over, the condition does not tell it any more.
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
			c.edit(`[{"op":"replace","path":"/spec/probes/0/containerName","value":"main"}]`)
			c.agent("n1", v1alpha1.ProbeSucceeded)
		}, "NoSuchContainer: probe idle: none of 1 pods has a container mian"},
		{"no agent, and no condition", func(c *cluster) { c.mark("games", "web", quiet) }, func(c *cluster) { c.agent("n1", v1alpha1.ProbeFailed) },
			"NoResult: pod web-0: probe idle has no result: the agent of node n1 has not reported one"},
		{"a result that is unknown, and no condition", func(c *cluster) {
			c.mark("games", "web", quiet)
			c.agent("n1", v1alpha1.ProbeUnknown)
		}, func(c *cluster) { c.agent("n1", v1alpha1.ProbeSucceeded) }, "NoResult: pod web-0: probe idle has no result: it is not known"},
		{"a node without probes, and no condition", func(c *cluster) {
			c.addPod("n2", "web-1", "web")
			c.mark("games", "web", quiet)
			c.agent("n1", v1alpha1.ProbeSucceeded)
		}, func(c *cluster) {
			c.addNode("n2")
			c.pause(time.Second)
			c.agent("n2", v1alpha1.ProbeSucceeded)
		}, "NoResult: pod web-1: probe idle has no result: node n2 does not run it: it has no room for it, is not ready, or is virtual"},
		{"a probe that is too large, and one that runs", func(c *cluster) {
			c.mark("games", "web", `[{name: idle, containerName: main, podConditionType: Idle, probe: {exec: {command: [/idle]}}},
  {name: big, containerName: main, podConditionType: Big, probe: {exec: {command: [sh, -c, "`+strings.Repeat("x", 5000)+`"]}}}]`)
			c.agent("n1", v1alpha1.ProbeSucceeded)
		}, func(c *cluster) {
			c.edit(`[{"op":"remove","path":"/spec/probes/1"}]`)
		}, "ProbeTooLarge: probe big: it has 5087 bytes, and a probe may have 4096: put what it runs into the image or a volume"},
		{"a probe that is too large, and no condition", func(c *cluster) {
			c.mark("games", "web", `[{name: big, containerName: main, probe: {exec: {command: [sh, -c, "`+strings.Repeat("x", 5000)+`"]}}}]`)
		}, func(c *cluster) {
			c.edit(`[{"op":"replace","path":"/spec/probes/0/probe/exec/command","value":["/idle"]}]`)
			c.agent("n1", v1alpha1.ProbeSucceeded)
		}, "ProbeTooLarge: probe big: it has 5087 bytes, and a probe may have 4096: put what it runs into the image or a volume"},
		{"a selector that cannot be read", func(c *cluster) {
			m := &v1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Name: "games"}}
			m.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Like", Values: []string{"web"}}}}
			c.must(yaml.UnmarshalStrict([]byte(quiet), &m.Spec.Probes))
			_, err := c.markers.Create(c.Context(), m, metav1.CreateOptions{})
			c.must(err)
		}, func(c *cluster) {
			c.edit(`[{"op":"replace","path":"/spec/selector/matchExpressions/0/operator","value":"In"}]`)
			c.agent("n1", v1alpha1.ProbeSucceeded)
		}, `BadValue: spec.selector: "Like" is not a valid label selector operator`},
		{"probes that the API server leaves on a node", func(c *cluster) {
			c.mark("games", "web", idle)
			c.agent("n1", v1alpha1.ProbeSucceeded)
			c.FailBefore(func(r fakecluster.Request) error {
				if r.User == nodeUser && r.String() == "patch nodepodprobes" {
					return apierrors.NewForbidden(schema.GroupResource{}, "n1", errors.New("a policy"))
				}
				return nil
			})
			c.must(c.markers.Delete(c.Context(), "games", metav1.DeleteOptions{}))
		}, func(c *cluster) {
			c.FailBefore(nil)
			c.pause(10 * time.Minute) // the back-off of the node
		}, "ProbesLeft: node n1: its NodePodProbe still has probes of the marker, which is being deleted"},
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
				if sent := slices.DeleteFunc(c.sent(), func(request string) bool { return strings.HasSuffix(request, " patch nodepodprobes") }); len(sent) > 0 {
					t.Errorf("requests while it lasts: %v", sent) // that one is refused, and made again
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
	c.pause(time.Second)
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
