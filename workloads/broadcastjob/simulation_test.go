// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/fakecluster/fixture"
)

// seeds is how many histories are played, of all policies in turn.
const seeds = 50

// policies are those of the jobs of the histories, by the remainder of the seed.
var policies = []string{
	`"failurePolicy":{"type":"Continue"}`,
	`"failurePolicy":{"type":"FailFast"}`,
	`"failurePolicy":{"type":"Continue"},"completionPolicy":{"type":"Never"}`,
	`"failurePolicy":{"type":"Continue"},"completionPolicy":{"activeDeadlineSeconds":60}`,
	`"failurePolicy":{"type":"Pause"}`,
}

// TestSimulation plays random histories amid stale caches, requests that fail, answers that
// are lost, managers that die, and users who delete pods, cordon nodes and change their minds.
// The judge looks after every step; when all is calm for a while, nothing is left to do; and in
// the end the job ends. (BJ-1, BJ-7 to BJ-15, BJ-19, BJ-20, BJ-22)
func TestSimulation(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				if wrong, happened := c.simulate(seed); len(wrong) > 0 {
					t.Errorf("%v after %q", wrong, happened)
				}
			})
		})
	}
}

// simulate plays a history until something is wrong, and returns what that is, and what has happened.
func (c *cluster) simulate(seed uint64) (wrong []violation, happened []string) {
	names := nodeNames(6)
	c.addNodes(names...)
	r := rand.New(rand.NewPCG(seed, 2))
	c.ends = func(string) (corev1.PodPhase, bool) { return corev1.PodSucceeded, r.IntN(3) == 0 }
	c.Create(testJob("web"), `{"spec":{"parallelism":2,`+policies[seed%uint64(len(policies))]+`}}`)
	j := newJudge(c)
	_, stop := c.start()
	defer func() { stop() }()
	c.Sleep("1s")
	for range 40 {
		if r.IntN(5) == 0 { // the manager dies
			stop()
			for _, resource := range disturbed { // or the next one might die before its caches are filled
				c.Release(resource)
			}
			_, stop = c.start()
			c.Sleep("1s")
			j.say("a new manager")
		}
		j.say(c.disturb(r))
		c.change(r, names[r.IntN(len(names))], j)
		for range r.IntN(4) {
			c.nodeStep()
			c.Sleep(fmt.Sprint(r.IntN(3000), "ms"))
			j.look()
		}
		if r.IntN(8) == 0 {
			c.calm()
			j.say("calm")
			j.calm()
		}
		if len(j.wrong) > 0 {
			return j.wrong, j.happened
		}
	}
	c.calm()
	for _, name := range names {
		c.patchNode(name, `{"spec":{"unschedulable":null}}`)
	}
	c.Edit(`{"spec":{"parallelism":3,"paused":false}}`)
	j.allowed, j.paused = max(j.allowed, 3), false
	c.ends = nil
	for range 30 {
		c.settle()
		for _, pod := range c.Pods() {
			if pod.Status.Phase == corev1.PodFailed && seed%uint64(len(policies)) == 4 {
				c.DeletePod(pod.Name) // has the node run again
			}
		}
	}
	c.Sleep("10m")
	j.calm()
	j.end()
	return j.wrong, j.happened
}

// change has users change the job or a node.
func (c *cluster) change(r *rand.Rand, node string, j *judge) {
	c.T.Helper()
	switch r.IntN(8) {
	case 0:
		c.cordon(node)
		j.say(node + " is cordoned")
	case 1:
		c.patchNode(node, `{"spec":{"unschedulable":null}}`)
		j.say(node + " is uncordoned")
	case 2:
		n := r.IntN(4)
		c.Edit(fmt.Sprintf(`{"spec":{"parallelism":%d}}`, n))
		j.allowed = max(j.allowed, n)
		j.say(fmt.Sprint("parallelism ", n))
	case 3:
		paused := r.IntN(3) == 0
		c.Edit(fmt.Sprintf(`{"spec":{"paused":%t}}`, paused))
		j.paused = j.paused && paused
		j.say(fmt.Sprint("paused ", paused))
	}
}

// disturb does at random what networks and users do, and returns what. calm ends it.
func (c *cluster) disturb(r *rand.Rand) string {
	c.T.Helper()
	resource := disturbed[r.IntN(len(disturbed))]
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
		c.FailBefore(fixture.Sometimes(r.Uint64()))
		return "requests fail"
	case 4:
		c.FailAfter(fixture.Sometimes(r.Uint64()))
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
	for range 3 { // what is being deleted goes
		for _, pod := range c.Pods() {
			if pod.DeletionTimestamp != nil {
				c.Must(c.podStep(&pod))
			}
		}
		c.Sleep("1m")
	}
}
