// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/fakecluster"
	"github.com/podwright/podwright/internal/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulation plays random histories amid stale caches, requests that fail, answers that
// are lost, and users who delete pods, cordon nodes and change their minds. After every step
// no node has two pods and no result was lost; and in the end the job ends. (BJ-1, BJ-19, BJ-22)
func TestSimulation(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { inCluster(t, func(t *testing.T, c *cluster) { c.simulate(seed) }) })
	}
}

func (c *cluster) simulate(seed uint64) {
	names := nodeNames(6)
	c.addNodes(names...)
	r := rand.New(rand.NewPCG(seed, 2))
	c.ends = func(string) (corev1.PodPhase, bool) { return corev1.PodSucceeded, r.IntN(3) == 0 }
	c.Create(testJob("web"), `{"spec":{"parallelism":2,"failurePolicy":{"type":"Continue"}}}`)
	_, stop := c.start()
	c.Sleep("1s")
	var happened []string
	results := map[string]v1alpha1.BroadcastJobNodeResult{}
	for range 40 {
		if r.IntN(5) == 0 { // the manager dies
			stop()
			for _, resource := range disturbed { // or the next one might die before its caches are filled
				c.Release(resource)
			}
			_, stop = c.start()
			c.Sleep("1s")
			happened = append(happened, "a new manager")
		}
		happened = append(happened, c.disturb(r))
		name := names[r.IntN(len(names))]
		switch r.IntN(6) {
		case 0:
			c.cordon(name)
			happened = append(happened, name+" is cordoned")
		case 1:
			c.patchNode(name, `{"spec":{"unschedulable":null}}`)
		case 2:
			c.Edit(fmt.Sprintf(`{"spec":{"parallelism":%d}}`, r.IntN(4)))
		}
		for range r.IntN(4) {
			c.nodeStep()
			c.Sleep(fmt.Sprint(r.IntN(3000), "ms"))
		}
		c.promise(results, happened)
	}
	c.calm()
	for _, name := range names {
		c.patchNode(name, `{"spec":{"unschedulable":null}}`)
	}
	c.Edit(`{"spec":{"parallelism":3}}`)
	c.ends = nil
	for range 30 {
		c.settle()
	}
	stop()
	s := c.get().Status
	if s.Phase != v1alpha1.PhaseCompleted || s.Succeeded+s.Failed != s.Desired || s.Active != 0 {
		c.T.Errorf("it ends as %s after %q", c.outcome(), happened)
	}
}

// disturb does at random what networks and users do, and returns what. calm ends it.
func (c *cluster) disturb(r *rand.Rand) string {
	c.T.Helper()
	resource := disturbed[r.IntN(len(disturbed))]
	fails := func(request fakecluster.Request) error {
		if request.User == fixture.ControllerUser && request.Verb != "list" && request.Verb != "watch" && r.IntN(3) == 0 {
			return fixture.ErrLost
		}
		return nil
	}
	switch r.IntN(8) {
	case 0:
		c.Hold(resource)
		return "the watch of " + resource + " stalls"
	case 1:
		c.Release(resource)
		return "the watch of " + resource + " goes on"
	case 2:
		c.Drop(resource)
		return "the watch of " + resource + " breaks"
	case 3:
		c.FailBefore(fails)
		return "requests fail"
	case 4:
		c.FailAfter(fails)
		return "answers are lost"
	case 5:
		c.FailBefore(nil)
		c.FailAfter(nil)
		return "requests succeed"
	}
	pods := c.Pods()
	if len(pods) == 0 {
		return "nothing"
	}
	pod := &pods[r.IntN(len(pods))]
	if pod.Status.Phase == corev1.PodRunning && r.IntN(2) == 0 {
		c.Must(c.setPhase(pod, corev1.PodFailed))
		return "pod " + pod.Name + " fails"
	}
	c.DeletePod(pod.Name)
	return "pod " + pod.Name + " is deleted"
}

var disturbed = []string{"pods", "broadcastjobs", "nodes"}

func (c *cluster) calm() {
	c.T.Helper()
	c.FailBefore(nil)
	c.FailAfter(nil)
	for _, resource := range disturbed {
		c.Release(resource)
	}
	c.Sleep("10m")
}

// promise checks what holds at any time. results are those that were seen before.
func (c *cluster) promise(results map[string]v1alpha1.BroadcastJobNodeResult, happened []string) {
	c.T.Helper()
	on := map[string]string{}
	for _, pod := range c.Pods() {
		if metav1.GetControllerOf(&pod) == nil {
			continue
		}
		node := placeOf(&pod)
		if on[node] != "" {
			c.T.Fatalf("BJ-22: node %s has the pods %s and %s after %q", node, on[node], pod.Name, happened)
		}
		on[node] = pod.Name
	}
	s := c.get().Status
	for node, result := range results {
		if now := s.NodeResults[node]; now == "" || result == v1alpha1.NodeSucceeded && now != result {
			c.T.Fatalf("BJ-19: node %s had %s, and has %q after %q", node, result, now, happened)
		}
	}
	maps.Copy(results, s.NodeResults)
}
