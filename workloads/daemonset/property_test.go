// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// Whatever nodes and pods there are, the order in which they are listed changes no plan. An update takes no available pod away
// while as many nodes as maxUnavailable lack one. With a surge it takes none away unless an updated pod is available beside it.
// No node gets two pods, nor a pod that it must not run. (DS-3, DS-4, DS-9 to DS-11, DS-14)
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limit, surge, partition := rapid.IntRange(1, 4).Draw(r, "limit"), rapid.Bool().Draw(r, "surge"), rapid.IntRange(0, 2).Draw(r, "partition")
		text := fmt.Sprintf("%smaxUnavailable: %d, partition: %d}}}", rolling, limit, partition)
		if surge {
			text = strings.Replace(text, "maxUnavailable", "maxUnavailable: 0, maxSurge", 1)
		}
		s := place(t, setOf(t, text), drawNodes(r))
		plan := NewPlan(s)
		for _, broken := range brokenPromises(s, plan, limit+partition, surge) { // the nodes that the partition holds do not count
			r.Errorf("%s\nplan %s", broken, show(plan))
		}
		reversed := *s
		reversed.Pods, reversed.Nodes, reversed.Revisions = slices.Clone(s.Pods), slices.Clone(s.Nodes), slices.Clone(s.Revisions)
		slices.Reverse(reversed.Pods)
		slices.Reverse(reversed.Nodes)
		slices.Reverse(reversed.Revisions)
		if got, want := show(NewPlan(&reversed)), show(plan); got != want {
			r.Errorf("plan %s\nin another order %s", want, got)
		}
	})
}

// TestPlantedProperties: plans that break a promise are found.
func TestPlantedProperties(t *testing.T) {
	take := func(pod *corev1.Pod) rollout.PodDeletion {
		return rollout.PodDeletion{Pod: pod, For: rollout.DeleteForUpdate}
	}
	for name, test := range map[string]struct {
		nodes string
		surge bool
		plant func(*Snapshot, *Plan)
	}{
		"one more than the limit":         {"n1:v1 n2:v1", false, func(s *Snapshot, p *Plan) { p.Delete = []rollout.PodDeletion{take(s.Pods[0]), take(s.Pods[1])} }},
		"one beside a node that lacks it": {"n1:v1 n2", false, func(s *Snapshot, p *Plan) { p.Delete = []rollout.PodDeletion{take(s.Pods[0])} }},
		"one without another beside it":   {"n1:v1", true, func(s *Snapshot, p *Plan) { p.Delete = []rollout.PodDeletion{take(s.Pods[0])} }},
		"two pods on a node":              {"n1", false, func(_ *Snapshot, p *Plan) { p.Create = append(p.Create, p.Create[0]) }},
		"a pod on a tainted node":         {"n1", false, func(s *Snapshot, _ *Plan) { s.Nodes[0] = newNode("tainted"); s.Nodes[0].Name = "n1" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := place(t, newSet(), test.nodes)
			plan := NewPlan(s)
			test.plant(s, plan)
			if len(brokenPromises(s, plan, 1, test.surge)) == 0 {
				t.Error("nobody finds it")
			}
		})
	}
}

// drawNodes draws nodes and pods in the notation of place.
func drawNodes(r *rapid.T) string {
	var words []string
	states := []string{"", "+down", "+pending", "+never", "+pulling", "+back", "+leaving", "+Failed"}
	for i := range rapid.IntRange(1, 8).Draw(r, "nodes") {
		node := fmt.Sprintf("%s%d", rapid.SampledFrom([]string{"n", "n", "n", "n", "tainted", "evicting", "other"}).Draw(r, "node"), i)
		words = append(words, node)
		for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2}).Draw(r, "pods") {
			words = append(words, node+":"+rapid.SampledFrom(versions).Draw(r, "version")+rapid.SampledFrom(states).Draw(r, "state"))
		}
	}
	return strings.Join(words, " ")
}

// brokenPromises lists what is wrong with a plan.
func brokenPromises(s *Snapshot, plan *Plan, limit int, surge bool) (broken []string) {
	isAvailable := func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && pod.Status.Conditions[0].Status == corev1.ConditionTrue
	}
	serving, updated := map[string]int{}, map[string]bool{} // nodes
	for _, pod := range s.Pods {
		if isAvailable(pod) {
			serving[pod.Spec.NodeName]++
			updated[pod.Spec.NodeName] = updated[pod.Spec.NodeName] || pod.Labels[podplan.RevisionLabel] == shortHashOf(plan)
		}
	}
	runs, lacking := map[string]bool{}, 0
	for _, node := range s.Nodes {
		if runs[node.Name] = len(node.Spec.Taints) == 0; runs[node.Name] && serving[node.Name] == 0 {
			lacking++
		}
	}
	taken := map[types.UID]bool{}
	for _, d := range plan.Delete {
		node := d.Pod.Spec.NodeName
		if taken[d.Pod.UID] {
			broken = append(broken, "it deletes pod "+d.Pod.Name+" twice")
		}
		taken[d.Pod.UID] = true
		if !isAvailable(d.Pod) || d.For != rollout.DeleteForUpdate || !runs[node] {
			continue
		}
		switch serving[node]--; {
		case surge && !updated[node]:
			broken = append(broken, "it takes pod "+d.Pod.Name+", beside which no updated one is available")
		case serving[node] == 0:
			lacking++
			if !surge && lacking > limit {
				broken = append(broken, fmt.Sprintf("it takes pod %s, and %d nodes lack one then", d.Pod.Name, lacking))
			}
		}
	}
	created := map[string]bool{}
	for _, c := range plan.Create {
		node := scheduler.NodeOf(c.Pod)
		if created[node] || !runs[node] {
			broken = append(broken, "it creates a pod too many for node "+node)
		}
		created[node] = true
	}
	return broken
}

func shortHashOf(plan *Plan) string {
	_, hash, _ := strings.Cut(plan.Revisions.Update.Name, "-")
	return hash
}
