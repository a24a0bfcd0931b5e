// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// mostPerPod is how many requests the limits may cost for each pod. The webhook writes, and reads and writes again if a replica was
// faster. The controller writes the status. (WS-7.2)
const mostPerPod = 4.0

// behind has all watches show what happens so much later: two replicas of the webhook, and the controller, have caches of their own.
func (c *cluster) behind(lag time.Duration) {
	for _, resource := range []string{"pods", "replicasets", "deployments", "jobs", "workloadspreads"} {
		c.Server.Lag(resource, lag)
	}
}

// creator creates pods as controllers of Kubernetes do: some at the same time, which replicas of the webhook are asked about in turn.
type creator struct {
	*cluster
	replicas []*Placer
	created  int
	began    map[string]time.Time // when a pod was created
}

// startCreating starts a controller and two replicas of the webhook, whose caches are so far behind.
func (c *cluster) startCreating(behind time.Duration) (of *creator, stop func()) {
	c.T.Helper()
	of = &creator{cluster: c, replicas: []*Placer{c.placer(), c.placer()}, began: map[string]time.Time{}}
	_, stop = c.start()
	c.behind(behind)
	c.ForgetRequests()
	return of, stop
}

func (c *creator) create(n int, owner metav1.OwnerReference) {
	for _, pod := range c.admitAll(n, owner, c.replicas...) {
		c.created++
		pod.Name, pod.Namespace = fmt.Sprint("p", c.created), "default"
		c.began[pod.Name] = time.Now()
		c.CreatePod(pod)
	}
}

// ready has the pods be ready that are so old, and returns all by what controls them.
func (c *creator) ready(after time.Duration) map[string][]corev1.Pod {
	by := map[string][]corev1.Pod{}
	for _, pod := range c.Pods() {
		if pod.Status.Phase != corev1.PodRunning && time.Since(c.began[pod.Name]) >= after {
			c.cluster.run(pod.Name)
		}
		by[pod.OwnerReferences[0].Name] = append(by[pod.OwnerReferences[0].Name], pod)
	}
	return by
}

// expectSubsets holds that the limits of both tests hold.
func (c *creator) expectSubsets(when string) {
	c.T.Helper()
	var pods []*corev1.Pod
	for _, pod := range c.Pods() {
		pods = append(pods, &pod)
	}
	if diff := cmp.Diff(map[string]int{"a": 20, "b": 20, "c": 10}, subsets(pods)); diff != "" {
		c.T.Errorf("%s (-want +got) %s", when, diff)
	}
}

// rollOut has a Deployment go from one ReplicaSet to the next, a quarter of the pods at a time, until it is done.
func (c *creator) rollOut(from, to metav1.OwnerReference, replicas int) {
	c.T.Helper()
	scale := func(rs metav1.OwnerReference, n int) {
		c.change("apps/v1/replicasets/"+rs.Name, fmt.Sprintf(`{"spec":{"replicas":%d}}`, n))
	}
	quarter := replicas / 4
	for range 2000 {
		by := c.ready(100 * time.Millisecond)
		old, fresh := by[from.Name], by[to.Name]
		available := 0
		for _, pod := range slices.Concat(old, fresh) {
			if readiness.Ready(&pod) {
				available++
			}
		}
		if len(old) == 0 && len(fresh) == replicas && available == replicas {
			return
		}
		if n := min(replicas, replicas+quarter-len(old)) - len(fresh); n > 0 {
			scale(to, len(fresh)+n)
			c.create(n, to)
		}
		if n := min(available-(replicas-quarter), len(old)); n > 0 {
			slices.SortStableFunc(old, func(a, b corev1.Pod) int { return costOf(&a) - costOf(&b) })
			scale(from, len(old)-n)
			for _, pod := range old[:n] {
				c.RemovePod(pod.Name)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.T.Fatal("the rollout never ends")
}

func costOf(pod *corev1.Pod) int {
	cost, _ := strconv.Atoi(pod.Annotations[corev1.PodDeletionCost])
	return cost
}

// The pods of the rollouts are ready in 100 ms. Two replicas of the webhook are asked about them, with caches of their own that are
// behind. Once all is settled the limits hold, and at most 1 % of the pods are created twice. (WS-7.2, WS-19)
func TestFastRollouts(t *testing.T) {
	const replicas, rollouts = 50, 6
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", replicas)
		before := c.replicaSet("web", 1, replicas)
		c.createSpread("web", "subsets: [{name: a, maxReplicas: 40%}, {name: b, maxReplicas: 20}, {name: c}]")
		of, stop := c.startCreating(60 * time.Millisecond)
		defer stop()
		of.create(replicas, before)
		for i := range rollouts {
			c.Sleep("3s")
			after := c.replicaSet("web", i+2, 0)
			of.rollOut(before, after, replicas)
			before = after
			for range 120 { // what the controller deletes is created again
				time.Sleep(time.Second)
				if n := replicas - len(of.ready(100 * time.Millisecond)[before.Name]); n > 0 {
					of.create(n, before)
				}
			}
			of.expectSubsets(fmt.Sprintf("rollout %d, settled", i+1))
		}
		const needed = replicas * (rollouts + 1)
		if twice := of.created - needed; twice > needed/100 {
			t.Errorf("%d of %d pods were created twice, want at most 1 %%", twice, needed)
		} else {
			t.Logf("%d of %d pods were created twice", twice, needed)
		}
		of.expectReservations(needed)
	})
}

// A Job of 50 that begins with 1, 2, 4, … pods at a time. (WS-7.2)
func TestJobSlowStart(t *testing.T) {
	for name, behind := range map[string]time.Duration{"caches that are 60 ms behind": 60 * time.Millisecond, "caches that are a second behind": time.Second} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				owner := owns(c.Object("create", "batch/v1/jobs", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"web","namespace":"default"},"spec":{"parallelism":50,"completions":50}}`))
				c.createSpread("web", "targetRef: {apiVersion: batch/v1, kind: Job, name: web}\nsubsets: [{name: a, maxReplicas: 20}, {name: b, maxReplicas: 40%}, {name: c}]")
				of, stop := c.startCreating(behind)
				defer stop()
				for batch := 1; of.created < 50; batch *= 2 {
					of.create(min(batch, 50-of.created), owner)
					of.ready(100 * time.Millisecond)
					time.Sleep(50 * time.Millisecond)
				}
				c.Sleep("10m")
				of.expectSubsets(fmt.Sprint(of.created, " pods of 50 were created"))
				if of.created != 50 {
					t.Errorf("%d pods were created", of.created)
				}
				of.expectReservations(50)
				for _, s := range c.spread("web").Status.SubsetStatuses {
					if len(s.CreatingPods) > 0 {
						t.Errorf("subset %s holds %v once all is settled", s.Name, s.CreatingPods)
					}
				}
				cached := of.replicas[0].options.Pods.GetStore().List()
				if len(cached) < 50 || slices.ContainsFunc(cached, func(o any) bool { return len(o.(*corev1.Pod).Spec.Containers) > 0 }) {
					t.Errorf("each replica caches what decides of 50 pods, and not their specs: %+v", cached)
				}
			})
		})
	}
}

// expectReservations holds what the limits cost: requests of the webhook, and those of the controller for the status. (WS-7.2)
func (c *creator) expectReservations(pods int) {
	c.T.Helper()
	n := 0
	for request, times := range c.Count(fixture.ControllerUser) {
		if strings.Contains(request, "workloadspreads") && !strings.HasPrefix(request, "list ") && !strings.HasPrefix(request, "watch ") {
			n += times
		}
	}
	if perPod := float64(n) / float64(pods); perPod > mostPerPod {
		c.T.Errorf("%.2f requests for each pod, want at most %.2f: %v", perPod, mostPerPod, c.Sent())
	} else {
		c.T.Logf("%.2f requests for each pod", perPod)
	}
}
