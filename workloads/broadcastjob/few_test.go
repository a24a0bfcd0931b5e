// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// BJ-32: which pods go first, which wait, and that the job waits for those that are active.
func TestFewMisfitsGoAtOnce(t *testing.T) {
	many := func(n int, what string) (text string) {
		for i := range n {
			text += fmt.Sprintf(" cordoned-%02d:%s", i, what)
		}
		return text
	}
	for _, test := range []struct {
		name, job, cluster string
		edit               func(*Snapshot)
		deleted, waiting   int
		first              string // of those that are deleted
		after              time.Duration
		phase              string
	}{
		{name: "ten of twelve", job: running, cluster: "n1:active" + many(12, "active"), deleted: 10, waiting: 2, first: "cordoned-00", after: 5 * time.Second, phase: "running"},
		{name: "a tenth of 130", job: running, cluster: many(130, "active"), deleted: 13, waiting: 117, first: "cordoned-00", after: 5 * time.Second, phase: "running"},
		{name: "finished pods come after those that are active", job: running, cluster: "n1:active a-cordoned" + many(9, "Succeeded") + strings.ReplaceAll(many(9, "active"), "cordoned", "cordoned-z"),
			deleted: 10, waiting: 8, first: "cordoned-00 -cordoned-z-00", after: 5 * time.Second, phase: "running"},
		{name: "others went a second ago", job: running, cluster: "n1:active" + many(12, "active"), edit: func(s *Snapshot) { s.Deleted = slices.Repeat([]time.Time{noon.Add(-time.Second)}, 7) },
			deleted: 3, waiting: 9, first: "cordoned-00", after: 4 * time.Second, phase: "running"},
		{name: "what cannot be deleted comes last", job: running, cluster: "n1:active" + many(12, "active"), edit: func(s *Snapshot) { s.NotDeleted = map[types.UID]bool{s.Pods[1].UID: true} },
			deleted: 10, waiting: 2, first: "cordoned-01", after: 5 * time.Second, phase: "running"},
		{name: "a job is not complete before", job: running, cluster: "n1:Succeeded" + many(1, "active"), edit: func(s *Snapshot) { s.Deleted = slices.Repeat([]time.Time{noon.Add(-time.Second)}, 10) },
			waiting: 1, after: 4 * time.Second, phase: "running"},
		{name: "pods that are being deleted and those of others are none of its pods", job: running, cluster: many(12, "active") + strings.ReplaceAll(many(99, "active+leaving"), "cordoned", "n"), deleted: 10, waiting: 2,
			first: "cordoned-00", after: 5 * time.Second, phase: "running"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := place(t, jobOf(t, test.job), test.cluster)
			for i, pod := range s.Pods {
				pod.Name, pod.UID = fmt.Sprintf("p-%03d", i), types.UID(fmt.Sprint("uid-", i))
			}
			if test.edit != nil {
				test.edit(s)
			}
			plan := NewPlan(s)
			if len(plan.Delete) != test.deleted || len(plan.Waiting) != test.waiting || plan.RequeueAfter != test.after {
				t.Errorf("deletes %d, %d wait, again after %v; want %d, %d, %v", len(plan.Delete), len(plan.Waiting), plan.RequeueAfter, test.deleted, test.waiting, test.after)
			}
			if test.first != "" && !strings.HasPrefix(show(plan), "-"+test.first+" ") {
				t.Errorf("plan %s, want one that deletes the pod of %s first", show(plan), test.first)
			}
			if plan.Status == nil || string(plan.Status.Phase) != test.phase || int(plan.Status.Desired) > 100 {
				t.Errorf("status %v", plan.Status)
			}
			if wait := plan.Waiting[0]; wait.Kind != "pod" || wait.Reason.Rule != "FewAtOnce" {
				t.Errorf("waits: %v", wait)
			}
		})
	}
}

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
