// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PPS-4 to PPS-7: what is recorded of pods and their nodes.
func TestRecord(t *testing.T) {
	const ip = "network/ip"
	wantsIP := func(s *v1alpha1.PersistentPodState) {
		s.Spec.PersistentPodAnnotations = []v1alpha1.PersistentPodAnnotation{{Key: ip}, {Key: "absent"}}
	}
	at := func(node string, labels ...string) v1alpha1.PodState {
		state := v1alpha1.PodState{NodeName: node}
		for i := 0; i < len(labels); i += 2 {
			if state.NodeTopologyLabels == nil {
				state.NodeTopologyLabels = map[string]string{}
			}
			state.NodeTopologyLabels[labels[i]] = labels[i+1]
		}
		return state
	}
	type states = map[string]v1alpha1.PodState
	withIP := at("a1", host, "a1")
	withIP.Annotations = map[string]string{ip: "10.0.0.2"}
	for _, test := range []struct {
		name    string
		state   *v1alpha1.PersistentPodState
		pods    []*corev1.Pod
		gone    bool
		want    states
		unknown []string
	}{
		{"PPS-4: a ready pod", newState(requires(host)), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", host, "a1")}, nil},
		{"PPS-4: required and preferred keys", newState(requires(host), prefers(1, zone, host)), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", host, "a1", zone, "zone-a")}, nil},
		{"PPS-4: a key that the node lacks", newState(requires(host, "rack")), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", host, "a1")}, nil},
		{"PPS-4: no key that the node has", newState(requires("rack")), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1")}, nil},
		{"PPS-4: annotations", newState(requires(host), wantsIP), []*corev1.Pod{newPod("web-0", "a1", annotated(ip, "10.0.0.2"), annotated("other", "x"))}, false, states{"web-0": withIP}, nil},
		{"PPS-4: a pod that is not active", newState(requires(host)), []*corev1.Pod{newPod("web-0", "a1", deleting), newPod("web-1", "a1", failed)}, false, nil, nil},
		{"PPS-4: other keys than before", newState(requires(zone), ran("a1", "web-0")), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", zone, "zone-a")}, nil},
		{"PPS-5: a node that is not known", newState(requires(host), ran("b1", "web-0")), []*corev1.Pod{newPod("web-0", "x1"), newPod("web-1", "x1")}, false, states{"web-0": at("b1", host, "b1", zone, "zone-b")}, []string{"web-0", "web-1"}},
		{"PPS-6: pods that are not ready, in front of one that is", newState(requires(host), ran("b1", "web-0")),
			[]*corev1.Pod{newPod("web-0", "a1", unready), newPod("web-1", "a1", unready), newPod("web-2", "a1")}, false,
			states{"web-0": at("b1", host, "b1", zone, "zone-b"), "web-2": at("a1", host, "a1")}, nil},
		{"PPS-6: a pod that waits", newState(requires(host), ran("b1", "web-0")), []*corev1.Pod{newPod("web-0", "")}, false, states{"web-0": at("b1", host, "b1", zone, "zone-b")}, nil},
		{"PPS-6: a pod that has moved", newState(requires(host), ran("b1", "web-0")), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", host, "a1")}, nil},
		{"PPS-7: of another workload of the name", newState(requires(host), ran("b1", "web-0", "web-1"), of("former")), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", host, "a1")}, nil},
		{"PPS-7: of this workload", newState(requires(host), ran("b1", "web-0", "web-1"), of("web")), []*corev1.Pod{newPod("web-0", "a1")}, false, states{"web-0": at("a1", host, "a1"), "web-1": at("b1", host, "b1", zone, "zone-b")}, nil},
		{"PPS-7: it is not known of which workload", newState(requires(host), ran("b1", "web-1")), nil, false, states{"web-1": at("b1", host, "b1", zone, "zone-b")}, nil},
		{"PPS-7: no workload", newState(requires(host), ran("b1", "web-0")), []*corev1.Pod{newPod("web-0", "a1")}, true, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := podstate.Input{State: test.state, Workload: newWorkload(3), Pods: test.pods, Nodes: newNodes("a1", "b1"), Now: start}
			if test.gone {
				in.Workload = nil
			}
			got := podstate.Compute(in)
			if diff := cmp.Diff(test.want, got.Status.PodStates); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.unknown, got.UnknownNodes); diff != "" {
				t.Errorf("unknown nodes (-want +got):\n%s", diff)
			}
			if got.Status.ObservedGeneration != 3 || int(got.Status.Pods) != len(test.want) {
				t.Errorf("observed generation %d of %d pods, want 3 of %d", got.Status.ObservedGeneration, got.Status.Pods, len(test.want))
			}
		})
	}
	deleted := newWorkload(3, func(w *podstate.Workload) { w.Deleting = true })
	got := podstate.Compute(podstate.Input{State: newState(requires(host), ran("b1", "web-0")), Workload: deleted, Pods: []*corev1.Pod{newPod("web-0", "a1")}, Nodes: newNodes("a1"), Now: start})
	if len(got.Status.PodStates) > 0 || !slices.Equal(got.Dropped, []string{"web-0"}) {
		t.Errorf("PPS-7: of a workload that is being deleted %v is kept, and %v dropped", got.Status.PodStates, got.Dropped)
	}
}

// PPS-8: ordinals, the reserved ones, the first one, and the policy.
func TestRetain(t *testing.T) {
	many := []string{"web-0", "web-1", "web-2", "web-3", "web-4", "web-5", "web-6", "web-7", "web-8", "web-9", "web-10", "web-11", "web-12", "other"}
	reserve := func(reserved ...string) func(*podstate.Workload) {
		return func(w *podstate.Workload) {
			for _, entry := range reserved {
				w.Reserved = append(w.Reserved, intstr.Parse(entry))
			}
		}
	}
	from := func(start int) func(*podstate.Workload) { return func(w *podstate.Workload) { w.Start = start } }
	for _, test := range []struct {
		name     string
		workload *podstate.Workload
		policy   func(*v1alpha1.PersistentPodState)
		want     []string
	}{
		{"reserved ordinals", newWorkload(8, reserve("7", "0", "3", "3", "x")), nil, []string{"other", "web-1", "web-10", "web-11", "web-2", "web-4", "web-5", "web-6", "web-8", "web-9"}},
		{"a range", newWorkload(3, reserve("1-3", "6-2147483647")), nil, []string{"other", "web-0", "web-11", "web-4", "web-5"}},
		{"a range of more than 100,000", newWorkload(3, reserve("2-200000")), nil, []string{"other", "web-0", "web-1", "web-11"}},
		{"scaled down", newWorkload(2), nil, []string{"other", "web-0", "web-1", "web-11"}},
		{"scaled to 0", newWorkload(0), nil, []string{"other", "web-11"}},
		{"a negative number", newWorkload(-1), nil, []string{"other", "web-11"}},
		{"the most there can be", newWorkload(1<<31 - 1), nil, slices.Sorted(slices.Values(many))},
		{"a start", newWorkload(3, from(5)), nil, []string{"other", "web-11", "web-5", "web-6", "web-7"}},
		{"a start, and reserved ordinals around it", newWorkload(3, from(5), reserve("2", "5", "6")), nil, []string{"other", "web-11", "web-7", "web-8", "web-9"}},
		{"WhenDeleted", newWorkload(0), whenDeleted, slices.Sorted(slices.Values(many))},
		{"replicas that nobody knows", newWorkload(0, func(w *podstate.Workload) { w.Replicas = nil }), nil, slices.Sorted(slices.Values(many))},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newState(requires(host), ran("a1", many...))
			if test.policy != nil {
				test.policy(s)
			}
			// One runs that is left over, and another one is on its way out.
			got := podstate.Compute(podstate.Input{State: s, Workload: test.workload, Nodes: newNodes("a1"), Now: start,
				Pods: []*corev1.Pod{newPod("web-11", "a1"), newPod("web-12", "a1", deleting)}})
			if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(got.Status.PodStates))); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

// PPS-9: what is settled is not written, and every field counts.
func TestEqual(t *testing.T) {
	in := podstate.Input{State: newState(requires(host), ran("a1", "web-0")), Workload: newWorkload(3), Nodes: newNodes("b1"), Pods: []*corev1.Pod{newPod("web-1", "b1")}, Now: start}
	first := podstate.Compute(in)
	in.State = newState(requires(host))
	in.State.Status, in.Now = first.Status, after(60)
	if second := podstate.Compute(in); !podstate.Equal(&first.Status, &second.Status) || len(second.Recorded)+len(second.Dropped) > 0 {
		t.Errorf("PPS-9: a settled status is another one:\n%s", cmp.Diff(first.Status, second.Status))
	}
	for name, change := range map[string]func(*v1alpha1.PersistentPodStateStatus){
		"observedGeneration": func(s *v1alpha1.PersistentPodStateStatus) { s.ObservedGeneration++ },
		"podStates":          func(s *v1alpha1.PersistentPodStateStatus) { s.PodStates["web-9"] = v1alpha1.PodState{} },
		"nodeName":           func(s *v1alpha1.PersistentPodStateStatus) { s.PodStates["web-0"] = v1alpha1.PodState{NodeName: "x"} },
		"pods":               func(s *v1alpha1.PersistentPodStateStatus) { s.Pods++ },
		"lost":               func(s *v1alpha1.PersistentPodStateStatus) { s.Lost++ },
		"conditions":         func(s *v1alpha1.PersistentPodStateStatus) { s.Conditions[0].Message = "x" },
	} {
		other := *first.Status.DeepCopy()
		change(&other)
		if podstate.Equal(&first.Status, &other) {
			t.Errorf("PPS-9: a change of %s is none", name)
		}
	}
}

// PPS-17, PPS-18: what is lost, and is found again.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		name  string
		state *v1alpha1.PersistentPodState
		nodes *podstate.Nodes
		want  []string
	}{
		{"the node is there", newState(requires(host), ran("a1", "web-0")), newNodes("a1"), nil},
		{"the node is gone", newState(requires(host), ran("a1", "web-0"), ran("b1", "web-1")), newNodes("b1"), []string{"web-0"}},
		{"another one of the zone is there", newState(requires(zone), ran("a1", "web-0")), newNodes("a2"), nil},
		{"both are required", newState(requires(zone, host), ran("a1", "web-0")), newNodes("a2"), []string{"web-0"}},
		{"no two nodes make one", newState(requires(zone, host), ran("a1", "web-0")), podstate.NewNodes([]*corev1.Node{
			newNode("a1", func(n *corev1.Node) { n.Labels[zone] = "zone-b" }), newNode("a2")}), []string{"web-0"}},
		{"it is preferred alone", newState(prefers(1, host), ran("a1", "web-0")), newNodes("b1"), nil},
		{"the key is not recorded", newState(requires("rack"), ran("a1", "web-0")), newNodes("b1"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := podstate.Compute(podstate.Input{State: test.state, Workload: newWorkload(3), Nodes: test.nodes, Now: start})
			if diff := cmp.Diff(test.want, got.Lost); diff != "" {
				t.Errorf("PPS-17 (-want +got):\n%s", diff)
			}
			condition := meta.FindStatusCondition(got.Status.Conditions, v1alpha1.TopologyLostCondition)
			if (condition.Status == "True") != (len(test.want) > 0) || int(got.Status.Lost) != len(test.want) {
				t.Errorf("PPS-18: condition %+v, lost %d", condition, got.Status.Lost)
			}
		})
	}
	s := newState(requires(host), ran("a1", "web-0", "web-1", "web-2", "web-3"))
	got := podstate.Compute(podstate.Input{State: s, Workload: newWorkload(4), Nodes: newNodes("b1"), Now: start})
	const want = "no node has the required topology of 4 pods (web-0, web-1, web-2, …): what is created again is placed elsewhere"
	if message := meta.FindStatusCondition(got.Status.Conditions, v1alpha1.TopologyLostCondition).Message; message != want {
		t.Errorf("PPS-18: message %q", message)
	}
	if len(got.Status.PodStates) != 4 {
		t.Errorf("PPS-17: %d states of 4 are kept", len(got.Status.PodStates))
	}
}
