// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. "ends" says how pods end, by node: Failed, Succeeded, or never; without
// arguments all succeed. The argument "other" is for the nodes that are not named. "work" lets nodes, garbage collector and controller work for
// a while. "step" is one step of scheduler and kubelets. "outcome" shows the status of the job, "measured" what JobMetrics were told. "inject" has
// the API server put JSON into a field of the spec of new pods, of those for a node if it is named. Without arguments it does not any more.
// "cordon" cordons nodes. "left" shows how many pods are left, second by second, while kubelets work.
// "created" is how many pods the controller has created, and of how many names. "stored" shows the status as the API server has it, without
// the time of the start.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", jobResource, func(f *fixture.Cluster) *fixture.Story {
		c := newCluster(f)
		s := c.Story(func(int32) any { return testJob("web") })
		s.Node = newNode
		s.Waiting = func() (out []string) {
			for _, wait := range c.Planned().Waiting {
				out = append(out, wait.String())
			}
			return out
		}
		maps.Copy(s.Further, map[string]func(...string) string{
			"ends":     func(words ...string) string { c.ends = endsAs(words); return "" },
			"work":     func(...string) string { c.settle(); return "" },
			"step":     func(...string) string { c.nodeStep(); return "" },
			"outcome":  func(...string) string { return c.outcome() + "\n" },
			"measured": func(...string) string { return strings.Join(c.finished, "\n") + "\n" },
			"inject":   c.inject,
			"stored":   c.stored,
			"cordon":   func(words ...string) string { c.cordon(words...); return "" },
			"left":     c.left,
			"created":  c.created,
		})
		return s
	})
}

// stored is the status as the API server has it.
func (c *cluster) stored(...string) string {
	fields := c.Raw()["status"].(map[string]any)
	delete(fields, "startTime")
	status, err := json.Marshal(fields)
	c.Must(err)
	return string(status) + "\n"
}

// created shows how many pods the controller has created, and with how many names.
func (c *cluster) created(...string) string {
	n, names := 0, map[string]bool{}
	for _, r := range c.Requests(fixture.ControllerUser) {
		if r.String() == "create pods" {
			n++
			names[fixture.NameIn(r)] = true
		}
	}
	return fmt.Sprintf("%d, with %d names\n", n, len(names))
}

// left shows how many pods are left, second by second.
func (c *cluster) left(words ...string) string {
	seconds, err := strconv.Atoi(words[0])
	c.Must(err)
	var left []int
	for range seconds {
		c.Sleep("1s")
		c.nodeStep()
		left = append(left, len(c.Pods()))
	}
	return fmt.Sprintln(left)
}

// inject has the API server change new pods.
func (c *cluster) inject(words ...string) string {
	c.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
		pod := &corev1.Pod{}
		if len(words) == 0 || request.String() != "create pods" {
			return
		}
		c.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, pod))
		if len(words) < 3 || scheduler.NodeOf(pod) == words[2] {
			var value any
			c.Must(json.Unmarshal([]byte(words[1]), &value))
			c.Must(unstructured.SetNestedField(object.Object, value, "spec", words[0]))
		}
	})
	return ""
}

// endsAs reads how pods end, node=phase.
func endsAs(words []string) func(string) (corev1.PodPhase, bool) {
	if len(words) == 0 {
		return nil
	}
	phases := map[string]string{}
	for _, word := range words {
		node, phase, _ := strings.Cut(word, "=")
		phases[node] = phase
	}
	return func(node string) (corev1.PodPhase, bool) {
		phase, named := phases[node]
		if !named {
			phase = phases["other"]
		}
		return corev1.PodPhase(phase), phase != "never"
	}
}
