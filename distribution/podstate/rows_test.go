// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows.
type row struct {
	// State is the PersistentPodState web of the StatefulSet web, which what follows changes. Prefers has a weight before its keys.
	State                    *v1alpha1.PersistentPodState
	Requires, Saves, Prefers []string
	// Ran says on which nodes pods were recorded, and Of for the workload of which UID.
	Ran map[string][]string
	Of  types.UID
	// Workload is the StatefulSet web. Asks are its annotations: auto, required, preferred and those of pods.
	Workload *podstate.Workload
	Asks     []string
	// Pods are those of it: a name, a node on which the pod is ready, and what else it is. That is unready, deleting, failed, or key=value of an
	// annotation.
	Pods []string
	// Pod is the new pod web-0. Selects is its node selector, without what is empty there. By has placed it, by the keys in Placed.
	Pod     *corev1.Pod
	Selects map[string]string
	By      string
	Placed  *string
	// Nodes are those that there are, and what is different about them. By default they are a1, a2 and b1. The label host of a node is its name,
	// and zone the first letter of it.
	Nodes map[string]json.RawMessage
	// States are others.
	States []*v1alpha1.PersistentPodState
	// Data are those of the ConfigMap of the white list.
	Data map[string]string
	// After is how many seconds ago the pods were created.
	After int
	// Count are so many pods, each with a Note, on nodes of their own that are Named so. The PersistentPodState has so many bytes of Notes.
	Count, Notes int
	Named, Note  string
	// Kind is that of a workload, and Key that of an annotation.
	Kind schema.GroupKind
	Key  string
}

// TestRows plays the tables of pod states, see patches.PlayRows. They show:
//
//	record      what is recorded of pods
//	place       how a new pod is placed
//	restore     the same, with the annotations that it gets back
//	stuck       for how long a pod waits that waits for a node which does not exist
//	generate    what annotations of a workload ask for
//	for         which of several PersistentPodStates is that of the pod
//	size        how many of many pods are recorded, and what is told of the others
//	whitelist   what is read of a white list
//	allows      whether it allows a kind
//	restorable  whether an annotation is given back
//	conflicts   which of them conflict
func TestRows(t *testing.T) {
	blank := func() row { return row{State: newState(), Workload: newWorkload(3), Pod: newPod("web-0", "")} }
	patches.PlayRows(t, "testdata/rows", blank, func(t *testing.T, command string, r *row) string {
		now := start.Add(time.Duration(r.After) * time.Second)
		in := podstate.Input{State: r.state(), Workload: r.Workload, Nodes: r.nodes(t), Now: now, Pods: r.pods()}
		switch command {
		case "record":
			return record(t, in)
		case "place", "restore":
			return place(t, in, r.pod(), command == "restore")
		case "for":
			if s := podstate.For(r.States, r.pod()); s != nil {
				return s.Name
			}
			return "none"
		case "whitelist":
			list, err := podstate.ReadWhitelist(r.Data)
			return fmt.Sprint(list, err != nil)
		case "allows":
			list, err := podstate.ReadWhitelist(r.Data)
			return fmt.Sprint(list.Allows(r.Kind), err != nil)
		case "restorable":
			return fmt.Sprint(podstate.Restorable(r.Key))
		case "size":
			return size(t, r, in.State)
		case "conflicts":
			return conflicts(r.States)
		case "stuck":
			return stuck(t, in, r.pod())
		}
		return generate(t, r.workload(), in.State)
	})
}

func (r *row) state() *v1alpha1.PersistentPodState {
	s := r.State
	if s == nil {
		return nil
	}
	if r.Requires != nil {
		requires(r.Requires...)(s)
	}
	for _, words := range r.Prefers {
		keys := strings.Fields(words)
		weight, _ := strconv.Atoi(keys[0])
		s.Spec.PreferredPersistentTopology = append(s.Spec.PreferredPersistentTopology,
			v1alpha1.PreferredTopologyTerm{Weight: int32(weight), Preference: v1alpha1.NodeTopologyTerm{NodeTopologyKeys: keys[1:]}})
	}
	for _, key := range r.Saves {
		s.Spec.PersistentPodAnnotations = append(s.Spec.PersistentPodAnnotations, v1alpha1.PersistentPodAnnotation{Key: key})
	}
	for node, pods := range r.Ran {
		for _, pod := range pods {
			if s.Status.PodStates == nil {
				s.Status.PodStates = map[string]v1alpha1.PodState{}
			}
			recorded := s.Status.PodStates[pod]
			recorded.NodeName, recorded.NodeTopologyLabels = node, inZone(node)
			s.Status.PodStates[pod] = recorded
		}
	}
	s.Status.WorkloadUID = r.Of
	return s
}

func (r *row) workload() *podstate.Workload {
	if r.Asks != nil {
		r.Workload.Annotations = map[string]string{
			v1alpha1.AutoGeneratePersistentPodStateAnnotation: r.Asks[0], v1alpha1.RequiredPersistentTopologyAnnotation: r.Asks[1],
			v1alpha1.PreferredPersistentTopologyAnnotation: r.Asks[2], v1alpha1.PersistentPodAnnotationsAnnotation: r.Asks[3],
		}
	}
	return r.Workload
}

func (r *row) nodes(t *testing.T) *podstate.Nodes {
	if r.Nodes == nil {
		r.Nodes = map[string]json.RawMessage{"a1": []byte("{}"), "a2": []byte("{}"), "b1": []byte("{}")}
	}
	var nodes []*corev1.Node
	for _, name := range slices.Sorted(maps.Keys(r.Nodes)) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: inZone(name)}}
		if err := json.Unmarshal(r.Nodes[name], node); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node)
	}
	return podstate.NewNodes(nodes)
}

// inZone are the labels of a node.
func inZone(node string) map[string]string {
	return map[string]string{"host": node, "zone": "zone-" + node[:1]}
}

func (r *row) pods() (pods []*corev1.Pod) {
	for _, text := range r.Pods {
		words := strings.Fields(text)
		pod := newPod(words[0], strings.Join(words[1:min(2, len(words))], ""))
		for _, word := range words[min(2, len(words)):] {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "unready":
				pod.Status.Conditions[0].Status = corev1.ConditionFalse
			case "deleting":
				pod.DeletionTimestamp = new(metav1.NewTime(start))
			case "failed":
				pod.Status.Phase = corev1.PodFailed
			default:
				annotate(pod, key, value)
			}
		}
		pods = append(pods, pod)
	}
	return pods
}

func (r *row) pod() *corev1.Pod {
	maps.DeleteFunc(r.Selects, func(_, value string) bool { return value == "" })
	if r.Pod.Spec.NodeSelector = r.Selects; len(r.Selects) == 0 {
		r.Pod.Spec.NodeSelector = nil
	}
	if r.By != "" {
		annotate(r.Pod, v1alpha1.InjectedPersistentPodStateAnnotation, r.By)
	}
	if r.Placed != nil {
		annotate(r.Pod, v1alpha1.InjectedNodeSelectorAnnotation, *r.Placed)
	}
	return r.Pod
}

// record shows what is recorded, what is told, and conditions that hold. What is settled is not written. (PPS-9)
func record(t *testing.T, in podstate.Input) string {
	got := podstate.Compute(in)
	var lines []string
	alike := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(got.Status.PodStates)) {
		state := patches.JSON(t, got.Status.PodStates[name])
		alike[state] = append(alike[state], name)
	}
	for state, names := range alike {
		lines = append(lines, strings.Join(names, ", ")+": "+state)
	}
	for what, names := range map[string][]string{"recorded": got.Recorded, "dropped": got.Dropped, "lost": got.Lost, "not known are nodes of": got.UnknownNodes} {
		if len(names) > 0 {
			lines = append(lines, fmt.Sprint(what, " ", names))
		}
	}
	for _, c := range got.Status.Conditions {
		if c.Status == "True" {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", c.Type, c.Reason, c.Message))
		}
	}
	slices.Sort(lines)
	if int(got.Status.Pods) != len(got.Status.PodStates) || int(got.Status.Lost) != len(got.Lost) || got.Status.ObservedGeneration != 3 {
		lines = append(lines, fmt.Sprintf("%d pods, %d lost, of generation %d", got.Status.Pods, got.Status.Lost, got.Status.ObservedGeneration))
	}
	in.State.Status, in.Now = got.Status, in.Now.Add(60)
	if again := podstate.Compute(in); !podstate.Equal(&got.Status, &again.Status) || len(again.Recorded)+len(again.Dropped) > 0 {
		t.Errorf("PPS-9: a settled status is another one:\n%s", cmp.Diff(got.Status, again.Status))
	}
	return strings.Join(lines, "\n")
}

// place shows what is done to a pod. The pod that is given does not change, and to one that was placed nothing is done. (PPS-16)
func place(t *testing.T, in podstate.Input, pod *corev1.Pod, restore bool) string {
	once := func(pod *corev1.Pod) *podstate.Placement {
		before := pod.DeepCopy()
		p := podstate.Place(in.State, pod, in.Nodes)
		if restore {
			p.Restore(in.State)
		}
		if diff := cmp.Diff(before, pod); diff != "" || !p.Changed() && p.Pod != pod {
			t.Errorf("the pod that was given is another one (-before +after):\n%s", diff)
		}
		return p
	}
	p := once(pod)
	if again := once(p.Pod); again.Changed() {
		t.Errorf("PPS-16: placed twice:\n%s", cmp.Diff(p.Pod, again.Pod))
	}
	said := p.Reason + "\n"
	if p.Changed() {
		said += fmt.Sprint("annotations ", p.Pod.Annotations, "\n")
	}
	if len(p.Pod.Spec.NodeSelector) > 0 {
		said += fmt.Sprint("selects ", p.Pod.Spec.NodeSelector, "\n")
	}
	if p.Pod.Spec.Affinity != nil {
		said += "affinity " + patches.JSON(t, p.Pod.Spec.Affinity.NodeAffinity)
	}
	return said
}

// stuck shows for how long a pod waits still. Of two that are alike the same is said, by name.
func stuck(t *testing.T, in podstate.Input, pod *corev1.Pod) string {
	other := pod.DeepCopy()
	other.Name = "web-1"
	in.Pods = []*corev1.Pod{other, pod}
	got := podstate.FindStuck(in)
	if len(got) == 0 {
		return "no"
	}
	if len(got) != 2 || got[0].Pod != pod || got[1].Pod != other {
		t.Errorf("PPS-19: stuck are %+v", got)
	}
	return fmt.Sprintf("for %s still, since second %v: %s", got[0].After, got[0].Since.Sub(start).Seconds(), got[0].Reason)
}

// conflicts shows which PersistentPodStates conflict.
func conflicts(states []*v1alpha1.PersistentPodState) (said string) {
	for i, a := range states {
		for _, b := range states[i+1:] {
			if podstate.Conflict(a, b) {
				said += a.Name + " with " + b.Name + "\n"
			}
		}
	}
	return said
}

// generate shows what is done about the PersistentPodState of a workload.
func generate(t *testing.T, w *podstate.Workload, existing *v1alpha1.PersistentPodState) string {
	switch got := podstate.Generate(w, existing); {
	case got.Create != nil:
		return "create " + patches.JSON(t, got.Create)
	case got.Update != nil:
		return "update " + patches.JSON(t, got.Update)
	case got.Delete:
		return "delete"
	default:
		return got.Problem
	}
}

func annotate(pod *corev1.Pod, key, value string) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
}

// PPS-9: every field counts.
func TestEqual(t *testing.T) {
	in := podstate.Input{State: newState(requires(host)), Workload: newWorkload(3), Nodes: newNodes("b1"), Pods: []*corev1.Pod{newPod("web-1", "b1")}, Now: start}
	first := podstate.Compute(in)
	for name, change := range map[string]func(*v1alpha1.PersistentPodStateStatus){
		"observedGeneration": func(s *v1alpha1.PersistentPodStateStatus) { s.ObservedGeneration++ },
		"podStates":          func(s *v1alpha1.PersistentPodStateStatus) { s.PodStates["web-9"] = v1alpha1.PodState{} },
		"nodeName": func(s *v1alpha1.PersistentPodStateStatus) {
			s.PodStates["web-1"] = v1alpha1.PodState{NodeName: "x", NodeTopologyLabels: s.PodStates["web-1"].NodeTopologyLabels}
		},
		"pods":       func(s *v1alpha1.PersistentPodStateStatus) { s.Pods++ },
		"lost":       func(s *v1alpha1.PersistentPodStateStatus) { s.Lost++ },
		"conditions": func(s *v1alpha1.PersistentPodStateStatus) { s.Conditions[0].Message = "x" },
	} {
		other := *first.Status.DeepCopy()
		change(&other)
		if podstate.Equal(&first.Status, &other) {
			t.Errorf("PPS-9: a change of %s is none", name)
		}
	}
}
