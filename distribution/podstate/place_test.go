// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

func term(weight int32, pairs ...string) (t corev1.PreferredSchedulingTerm) {
	t.Weight = weight
	for i := 0; i < len(pairs); i += 2 {
		t.Preference.MatchExpressions = append(t.Preference.MatchExpressions,
			corev1.NodeSelectorRequirement{Key: pairs[i], Operator: corev1.NodeSelectorOpIn, Values: []string{pairs[i+1]}})
	}
	return t
}

// needs has a pod require a label of its node by affinity.
func needs(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}},
		}}}
	}
}

// PPS-11 to PPS-16: what is done to a new pod.
func TestPlace(t *testing.T) {
	type labels = map[string]string
	type terms = []corev1.PreferredSchedulingTerm
	cordoned := podstate.NewNodes([]*corev1.Node{newNode("a1", func(n *corev1.Node) {
		n.Spec.Unschedulable = true
		n.Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}}
	})})
	own := func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms{term(5, "disk", "ssd")}}}
	}
	for _, test := range []struct {
		name      string
		state     *v1alpha1.PersistentPodState
		pod       *corev1.Pod
		nodes     *podstate.Nodes // default: a1, a2 and b1
		selector  labels
		preferred terms
		injected  string
		reason    string
	}{
		{"PPS-11: no state", nil, newPod("web-0", ""), nil, nil, nil, "", "there is no PersistentPodState for its workload"},
		{"PPS-11: the first of its name", newState(requires(host), ran("a1", "web-1")), newPod("web-0", ""), nil, nil, nil, "", "PersistentPodState web has not seen a pod of this name ready"},
		{"PPS-11: no labels", newState(requires(host), func(s *v1alpha1.PersistentPodState) {
			s.Status.PodStates = map[string]v1alpha1.PodState{"web-0": {NodeName: "a1"}}
		}), newPod("web-0", ""), nil, nil, nil, "", "it ran on node a1, which has had none of the topology keys of PersistentPodState web"},
		{"PPS-11: of another workload of the name", newState(requires(host), prefers(7, zone), ran("a1", "web-0"), of("former")), newPod("web-0", ""), nil, nil, nil, "",
			"what PersistentPodState web has recorded is of another workload of the name, which is gone"},
		{"PPS-11: of its workload", newState(requires(host), ran("a1", "web-0"), of("web")), newPod("web-0", ""), nil, labels{host: "a1"}, nil, host, ""},
		{"PPS-12: required", newState(requires(host), ran("a1", "web-0")), newPod("web-0", ""), nil, labels{host: "a1"}, nil, host, ""},
		{"PPS-12: two required keys, one recorded", newState(requires(host, "rack"), ran("a1", "web-0")), newPod("web-0", ""), nil, labels{host: "a1"}, nil, host, ""},
		{"PPS-12: beside others of its own", newState(requires(host), ran("a1", "web-0")), newPod("web-0", "", selects(zone, "zone-a")), nil, labels{zone: "zone-a", host: "a1"}, nil, host, ""},
		{"PPS-12: one of its own, the same", newState(requires(host, zone), ran("a1", "web-0")), newPod("web-0", "", selects(zone, "zone-a")), nil, labels{zone: "zone-a", host: "a1"}, nil, host, ""},
		{"PPS-12: one of its own, another one", newState(requires(host, zone), ran("a1", "web-0")), newPod("web-0", "", selects(zone, "zone-b")), nil, labels{zone: "zone-b"}, nil, "",
			"its own node selector asks for topology.kubernetes.io/zone=zone-b, and it ran at topology.kubernetes.io/zone=zone-a"},
		{"PPS-13: the node is gone", newState(requires(host), ran("c1", "web-0")), newPod("web-0", ""), nil, nil, nil, "", "it ran at kubernetes.io/hostname=c1, and no node is there any more"},
		{"PPS-13: the node is gone, another one of the zone is there", newState(requires(zone), ran("a9", "web-0")), newPod("web-0", ""), nil, labels{zone: "zone-a"}, nil, zone, ""},
		{"PPS-13: the node is gone, and preferred too", newState(requires(host), prefers(7, zone), ran("c1", "web-0")), newPod("web-0", ""), nil, nil, terms{term(7, zone, "zone-c")}, "", "it ran at kubernetes.io/hostname=c1, and no node is there any more"},
		{"PPS-13: it asks for another zone by itself", newState(requires(host), ran("a1", "web-0")), newPod("web-0", "", selects(zone, "zone-b")), nil, labels{zone: "zone-b"}, nil, "",
			"it ran at kubernetes.io/hostname=a1, and no node there is as its own node selector and affinity ask for"},
		{"PPS-13: it requires another zone by itself", newState(requires(host), ran("a1", "web-0")), newPod("web-0", "", needs(zone, "zone-b")), nil, nil, nil, "",
			"it ran at kubernetes.io/hostname=a1, and no node there is as its own node selector and affinity ask for"},
		{"PPS-13: the node takes nothing now", newState(requires(host), ran("a1", "web-0")), newPod("web-0", ""), cordoned, labels{host: "a1"}, nil, host, ""},
		{"PPS-14: preferred, in order", newState(prefers(10, host), prefers(20, zone, host), ran("a1", "web-0")), newPod("web-0", ""), nil, nil, terms{term(10, host, "a1"), term(20, zone, "zone-a", host, "a1")}, "", ""},
		{"PPS-14: a key that is not recorded", newState(prefers(10, "rack"), prefers(20, "rack", host), ran("a1", "web-0")), newPod("web-0", ""), nil, nil, terms{term(20, host, "a1")}, "", ""},
		{"PPS-14: weights that cannot be", newState(prefers(0, host), prefers(-1, host), prefers(101, host), ran("a1", "web-0")), newPod("web-0", ""), nil, nil, terms{term(100, host, "a1")}, "", ""},
		{"PPS-14: after its own", newState(prefers(10, host), ran("a1", "web-0")), newPod("web-0", "", own), nil, nil, terms{term(5, "disk", "ssd"), term(10, host, "a1")}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.nodes == nil {
				test.nodes = newNodes("a1", "a2", "b1")
			}
			before := test.pod.DeepCopy()
			p := podstate.Place(test.state, test.pod, test.nodes)
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("the pod that was given is another one (-before +after):\n%s", diff)
			}
			var preferred terms
			if a := p.Pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
				preferred = a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution
			}
			if diff := cmp.Diff(test.preferred, preferred); diff != "" {
				t.Errorf("preferred (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.selector, p.Pod.Spec.NodeSelector); diff != "" {
				t.Errorf("node selector (-want +got):\n%s", diff)
			}
			if p.Reason != test.reason {
				t.Errorf("reason %q, want %q", p.Reason, test.reason)
			}
			if by, found := p.Pod.Annotations[v1alpha1.InjectedPersistentPodStateAnnotation]; found != p.Changed() || found && by != "web" {
				t.Errorf("PPS-15: annotated %t with %q, and changed is %t", found, by, p.Changed())
			}
			if keys := p.Pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation]; keys != test.injected {
				t.Errorf("PPS-15: keys %q, want %q", keys, test.injected)
			}
			if !p.Changed() && p.Pod != test.pod {
				t.Error("a copy to which nothing is done")
			}
			again := podstate.Place(test.state, p.Pod, test.nodes)
			if again.Changed() {
				t.Errorf("PPS-16: placed twice:\n%s", cmp.Diff(p.Pod, again.Pod))
			}
		})
	}
}

// PPS-16: a pod that was placed, and then by a record that says more, still tells which keys it got.
func TestPlaceAgain(t *testing.T) {
	s := newState(requires(host), prefers(1, zone), ran("a1", "web-0"))
	delete(s.Status.PodStates["web-0"].NodeTopologyLabels, zone)
	pod := podstate.Place(s, newPod("web-0", ""), newNodes("a1")).Pod
	s.Status.PodStates["web-0"].NodeTopologyLabels[zone] = "zone-a"
	pod = podstate.Place(s, pod, newNodes("a1")).Pod
	if got := pod.Annotations[v1alpha1.InjectedNodeSelectorAnnotation]; got != host {
		t.Errorf("keys %q", got)
	}
	s.Status.PodStates["web-0"] = v1alpha1.PodState{NodeName: "a1", NodeTopologyLabels: map[string]string{host: "a1"}, Annotations: map[string]string{"network/ip": "10.0.0.2"}}
	if got := podstate.Place(s, newPod("web-0", ""), newNodes("a1")).Pod.Annotations["network/ip"]; got != "" {
		t.Errorf("PPS-16: the annotation is restored: %s", got)
	}
}

// A new pod gets the recorded annotations back that it does not have, if they are still asked for. (PPS-35)
func TestRestore(t *testing.T) {
	recorded := func(s *v1alpha1.PersistentPodState) {
		s.Status.PodStates = map[string]v1alpha1.PodState{"web-0": {NodeName: "a1", Annotations: map[string]string{"network/ip": "10.0.0.2", "old": "1", "apps.kruise.io/inplace-update-state": "{}"}}}
	}
	asks := saves("network/ip", "never-had", "apps.kruise.io/inplace-update-state")
	for _, test := range []struct {
		name  string
		state *v1alpha1.PersistentPodState
		pod   *corev1.Pod
		want  map[string]string
	}{
		{"recorded", newState(asks, recorded), newPod("web-0", ""), map[string]string{"network/ip": "10.0.0.2"}},
		{"one of its own", newState(asks, recorded), newPod("web-0", "", annotated("network/ip", "10.0.0.9")), nil},
		{"not asked for any more", newState(recorded), newPod("web-0", ""), nil},
		{"of another name", newState(asks, recorded), newPod("web-1", ""), nil},
		{"of another workload of the name", newState(asks, recorded, of("former")), newPod("web-0", ""), nil},
		{"no state", nil, newPod("web-0", ""), nil},
	} {
		t.Run("PPS-35: "+test.name, func(t *testing.T) {
			before := test.pod.DeepCopy()
			for range 2 { // the second time nothing is left to do
				p := podstate.Place(test.state, test.pod, newNodes("a1"))
				p.Restore(test.state)
				if diff := cmp.Diff(test.want, p.Annotations); diff != "" || p.Changed() != (test.want != nil) {
					t.Errorf("changed %t, -want +got:\n%s", p.Changed(), diff)
				}
				if diff := cmp.Diff(before, test.pod); diff != "" {
					t.Errorf("the pod that was given is another one (-before +after):\n%s", diff)
				}
				for key, value := range test.want {
					if p.Pod.Annotations[key] != value {
						t.Errorf("%s is %q", key, p.Pod.Annotations[key])
					}
				}
				test.pod, test.want, before = p.Pod, nil, p.Pod.DeepCopy()
			}
		})
	}
	for key, want := range map[string]bool{"network/ip": true, "plain": true, "notkruise.io/a": true, "kruise.io/a": false, "apps.kruise.io/a": false, "x.podwright.io/a": false} {
		if podstate.Restorable(key) != want {
			t.Errorf("PPS-35: %s: %t", key, !want)
		}
	}
}

// PPS-1, PPS-11: which PersistentPodState a pod is placed by.
func TestFor(t *testing.T) {
	named := func(name, version, kind, target string) *v1alpha1.PersistentPodState {
		return newState(func(s *v1alpha1.PersistentPodState) {
			s.Name, s.Spec.TargetReference = name, v1alpha1.TargetReference{APIVersion: version, Kind: kind, Name: target}
		})
	}
	ending := named("a", "apps.kruise.io/v1beta1", "StatefulSet", "web")
	ending.DeletionTimestamp = ending.CreationTimestamp.DeepCopy()
	states := []*v1alpha1.PersistentPodState{
		named("z", "apps.kruise.io/v1", "StatefulSet", "web"), ending, named("y", "apps.kruise.io/v1beta1", "StatefulSet", "web"),
		named("b", "apps/v1", "StatefulSet", "web"), named("c", "apps.kruise.io/v1beta1", "StatefulSet", "db"), named("d", "apps.kruise.io/v1beta1", "CloneSet", "web"),
		named("e", "a/b/c", "StatefulSet", "web"),
	}
	for name, change := range map[string]func(*corev1.Pod){
		"y":                          func(*corev1.Pod) {},
		"b":                          func(pod *corev1.Pod) { pod.OwnerReferences[0].APIVersion = "apps/v1" },
		"":                           func(pod *corev1.Pod) { pod.OwnerReferences[0].Name = "other" },
		"without a controller":       func(pod *corev1.Pod) { pod.OwnerReferences = nil },
		"of a controller of nothing": func(pod *corev1.Pod) { pod.OwnerReferences[0].APIVersion = "a/b/c" },
	} {
		got := podstate.For(states, newPod("web-0", "", change))
		if strings.Contains(name, " ") {
			name = ""
		}
		if got == nil && name != "" || got != nil && got.Name != name {
			t.Errorf("by %v, want %q", got, name)
		}
	}
	if !podstate.Conflict(states[0], states[2]) || podstate.Conflict(states[0], states[3]) || podstate.Conflict(states[6], states[6]) {
		t.Error("PPS-1: conflicts are wrong")
	}
}
