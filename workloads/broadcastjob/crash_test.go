// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"hash/crc32"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// witness sees every pod that is created, and finds two on one node.
type witness struct {
	t       testing.TB
	present map[string]string // pod by node
	runs    map[string]int    // by node
}

// look looks at the pods of the cluster.
func (w *witness) look(pods []corev1.Pod) {
	w.t.Helper()
	present := map[string]string{}
	for i := range pods {
		pod := &pods[i]
		node := scheduler.NodeOf(pod)
		if other := present[node]; other != "" {
			w.t.Errorf("node %s has the pods %s and %s", node, other, pod.Name)
		}
		present[node] = string(pod.UID)
		if w.present[node] != string(pod.UID) {
			w.runs[node]++
		}
	}
	w.present = present
}

// BJ-19, BJ-20, BJ-22: a job runs on 1,000 nodes, 5 % of which fail, and users delete finished pods. A manager is killed every
// five seconds, amid writes, and some answers to it are lost. In the end succeeded and failed are exactly the desired nodes. No
// node has two pods. A node is run again only if its pod was deleted before any manager saw its end.
func TestCountsAreExactWhateverDies(t *testing.T) {
	const nodes = 1000
	fails := func(node string) bool { return crc32.ChecksumIEEE([]byte(node))%20 == 0 }
	failing := 0
	for _, node := range nodeNames(nodes) {
		if fails(node) {
			failing++
		}
	}
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodeNames(nodes)...)
		c.ends = func(node string) (corev1.PodPhase, bool) {
			if fails(node) {
				return corev1.PodFailed, true
			}
			return corev1.PodSucceeded, true
		}
		r := rand.New(rand.NewPCG(1, 2))
		saw := &witness{t: t, runs: map[string]int{}}
		deleted, again := 0, map[string]int{}
		tidy := func() {
			results := c.get().Status.NodeResults
			for _, pod := range c.Pods() {
				if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed || r.IntN(3) > 0 {
					continue
				}
				deleted++
				if results[pod.Spec.NodeName] == "" { // it has not been counted
					again[pod.Spec.NodeName]++
				}
				c.Must(c.Kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}))
			}
		}
		c.Create(testJob("web"), `{"spec":{"parallelism":"20%","failurePolicy":{"type":"Continue"}}}`)
		_, stop := c.start()
		for round := 0; c.get().Status.Phase != "completed"; round++ {
			if round > 200 {
				t.Fatalf("it does not end: %+v", c.get().Status.Phase)
			}
			c.dieAmidWrites(r, &stop, func() {
				for range r.IntN(3) {
					c.nodeStep()
					saw.look(c.Pods())
				}
				tidy()
			})
			for range 2 {
				c.nodeStep()
				saw.look(c.Pods())
				time.Sleep(2500 * time.Millisecond)
			}
			synctest.Wait()
			tidy()
		}
		stop()
		s := c.get().Status
		if s.Desired != nodes || s.Succeeded+s.Failed != s.Desired || int(s.Failed) != failing || s.Active != 0 {
			t.Errorf("desired %d, succeeded %d, failed %d, active %d; want %d nodes of which %d fail", s.Desired, s.Succeeded, s.Failed, s.Active, nodes, failing)
		}
		for node, n := range saw.runs {
			if n > 1+again[node] {
				t.Errorf("node %s was run %d times, and %d of its pods were deleted before they were counted", node, n, again[node])
			}
		}
		if len(saw.runs) != nodes || deleted < nodes/4 || len(again) == 0 {
			t.Errorf("%d nodes were run, and %d pods deleted, of which %d before they were counted", len(saw.runs), deleted, len(again))
		}
	})
}

// dieAmidWrites kills the controller after a number of writes, or at once. The API server makes some writes without an answer.
// After what happens meanwhile another controller starts, with caches of its own.
func (c *cluster) dieAmidWrites(r *rand.Rand, stop *func(), meanwhile func()) {
	c.T.Helper()
	var left atomic.Int32 // writes under way at the same time count it down
	left.Store(int32(r.IntN(40)))
	lost := fixture.ErrLost
	c.FailAfter(func(request fakecluster.Request) error {
		if request.User != fixture.ControllerUser || request.Verb == "list" || request.Verb == "watch" || request.Verb == "get" {
			return nil
		}
		if left.Add(-1) < 0 {
			return lost
		}
		return nil
	})
	c.Sleep("1s")
	(*stop)()
	c.FailAfter(nil)
	meanwhile()
	_, *stop = c.start()
}

// TestTwoManagers: two managers that do not see each other's writes create no second
// pod on a node. (BJ-12)
func TestTwoManagers(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes(nodeNames(20)...)
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		c.Hold("pods")
		_, stop := c.start()
		_, stopOther := c.start()
		c.Create(testJob("web"), "")
		c.Sleep("1m")
		c.Release("pods")
		c.settle()
		stop()
		stopOther()
		on := map[string]int{}
		for _, pod := range c.Pods() {
			on[pod.Spec.NodeName]++
		}
		if len(on) != 20 || len(c.Pods()) != 20 {
			t.Errorf("%d pods on %d nodes", len(c.Pods()), len(on))
		}
	})
}
