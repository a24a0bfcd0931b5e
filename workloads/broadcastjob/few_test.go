// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// BJ-32: of 24 pods whose nodes are cordoned, ten are deleted in 5 s. Those that cannot be deleted do not hold back the others, and the job is
// complete once all are gone.
func TestMisfitsGoOverTime(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.ends = func(string) (corev1.PodPhase, bool) { return "", false }
		names := nodeNames(24)
		c.addNodes(names...)
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), "")
		for range 3 {
			c.Sleep("2s")
			c.nodeStep()
		}
		pods := c.Pods()
		kept := []string{pods[0].Name, pods[1].Name}
		refused := 0
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "delete pods" && slices.Contains(kept, r.Name) {
				refused++
				return apierrors.NewForbidden(corev1.Resource("pods"), r.Name, errors.New("injected"))
			}
			return nil
		})
		for _, name := range names {
			c.cordon(name)
		}
		var left []int
		for range 20 {
			time.Sleep(time.Second)
			c.nodeStep() // kubelets
			left = append(left, len(c.Pods()))
		}
		if want := []int{14, 14, 14, 14, 14, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}; !slices.Equal(left, want) || refused < 2 {
			t.Errorf("so many pods are left, second by second: %v, after %d refusals, want %v", left, refused, want)
		}
		c.FailBefore(nil)
		c.Sleep("10m")
		c.nodeStep()
		if pods := c.Pods(); len(pods) > 0 {
			t.Errorf("%d pods are left", len(pods))
		}
	})
}

// TestSimulationOfMany is TestSimulation with 24 nodes, which users relabel all at once. (BJ-32)
func TestSimulationOfMany(t *testing.T) {
	simulation.Check(t, many(bug{}))
}

// TestSimulationFindsBugsOfMany plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfMany(t *testing.T) {
	simulation.FindBugs(t, []simulation.Bug{
		{Name: "what was deleted before does not count", Breaks: invariants.Availability, Workload: many(misreading(func(s *Snapshot) { s.Deleted = nil }))},
	})
}

// many is played with many nodes.
func many(b bug) *simulation.Subject {
	w := simulated(b)
	w.Nodes = 24
	create := w.Create
	w.Create = func(r *rand.Rand) simulation.Object {
		job := create(r)
		simulation.Merge(job, `{"spec":{"parallelism":null,"paused":false,"completionPolicy":{"type":"Never"},"failurePolicy":{"type":"Continue"},"template":{"spec":{"nodeSelector":{"zone":"a"},"tolerations":[{"operator":"Exists"}]}}}}`)
		return job
	}
	w.Act = b.Act(func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(4) {
		case 0, 1:
			zone := []string{"a", "b"}[r.IntN(2)]
			for _, node := range u.Objects("nodes") {
				u.LabelNode(node.GetName(), map[string]any{simulation.Zone: zone})
			}
		case 2:
			u.Edit(`{"spec":{"parallelism":null,"paused":false}}`)
		default:
			act(u, r)
		}
	})
	return w
}
