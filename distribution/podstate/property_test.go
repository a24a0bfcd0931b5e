// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PPS-9, PPS-12, PPS-13, PPS-19: nodes come and go, pods are created, become ready and are deleted. A pod that is required to go
// back is on the node of the one before. None waits for ever for a node that does not exist. A settled state is not written
// again.
func TestStory(t *testing.T) {
	names := []string{"a1", "a2", "b1", "b2", "c1"}
	rapid.Check(t, func(t *rapid.T) {
		s := newState(requires(rapid.SampledFrom([][]string{{host}, {zone}, {host, zone}}).Draw(t, "required")...), prefers(10, host))
		nodes, pods, now := map[string]bool{"a1": true, "b1": true}, map[string]*corev1.Pod{}, start
		there := func() *podstate.Nodes { return newNodes(slices.Sorted(maps.Keys(nodes))...) }
		fits := func(pod *corev1.Pod, node string) bool {
			for key, value := range pod.Spec.NodeSelector {
				if newNode(node).Labels[key] != value {
					return false
				}
			}
			return true
		}
		input := func() podstate.Input {
			return podstate.Input{State: s, Workload: newWorkload(4), Pods: slices.Collect(maps.Values(pods)), Nodes: there(), Now: now}
		}
		sync := func() {
			s.Status = podstate.Compute(input()).Status
			if again := podstate.Compute(input()); !podstate.Equal(&s.Status, &again.Status) {
				t.Fatalf("PPS-9: a settled status is written again")
			}
			for _, stuck := range podstate.FindStuck(input()) {
				if stuck.After == 0 {
					delete(pods, stuck.Pod.Name)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"a node": func(t *rapid.T) {
				name := rapid.SampledFrom(names).Draw(t, "node")
				if nodes[name] {
					delete(nodes, name)
					maps.DeleteFunc(pods, func(_ string, pod *corev1.Pod) bool { return pod.Spec.NodeName == name })
				} else {
					nodes[name] = true
				}
			},
			"create": func(t *rapid.T) {
				name := fmt.Sprintf("web-%d", rapid.IntRange(0, 3).Draw(t, "pod"))
				if pods[name] != nil {
					return
				}
				pod := newPod(name, "")
				if rapid.Bool().Draw(t, "picky") {
					selects(zone, "zone-"+rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"))(pod)
				}
				pod.CreationTimestamp.Time = now
				p := podstate.Place(s, pod, there())
				pods[name] = p.Pod
				if own := pod.Spec.NodeSelector[zone]; own != "" && p.Pod.Spec.NodeSelector[zone] != own {
					t.Fatalf("PPS-12: the node selector of the user has become %v", p.Pod.Spec.NodeSelector)
				}
				if len(p.Required) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(nodes)), func(n string) bool { return fits(p.Pod, n) }) {
					t.Fatalf("PPS-13: no node fits %v", p.Pod.Spec.NodeSelector)
				}
			},
			"schedule": func(t *rapid.T) {
				for _, pod := range pods {
					for _, node := range slices.Sorted(maps.Keys(nodes)) {
						if pod.Spec.NodeName == "" && fits(pod, node) {
							pod.Spec.NodeName = node
							pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
						}
					}
				}
			},
			"delete": func(t *rapid.T) { delete(pods, fmt.Sprintf("web-%d", rapid.IntRange(0, 3).Draw(t, "pod"))) },
			"sync":   func(*rapid.T) { sync() },
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
				sync()
			},
		})
		for range 3 { // a minute and a half
			now = now.Add(podstate.StuckFor)
			sync()
		}
		for name, pod := range pods {
			placed := pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation] != ""
			if placed && pod.Spec.NodeName == "" && !slices.ContainsFunc(slices.Collect(maps.Keys(nodes)), func(n string) bool { return fits(pod, n) }) {
				t.Fatalf("PPS-19: %s still waits for a node with %v", name, pod.Spec.NodeSelector)
			}
		}
	})
}
