// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// randomSnapshot draws a node with few names, so that they meet.
func randomSnapshot(t *rapid.T) *Snapshot {
	names, types := []string{"a", "ab", "b"}, []string{"", "Idle", "Role", "Ready"}
	var markers []*v1alpha1.PodProbeMarker
	for _, name := range names {
		if !rapid.Bool().Draw(t, "there is "+name) {
			continue
		}
		m := newMarker(name)
		for i := range rapid.IntRange(1, 2).Draw(t, "probes") {
			policies := []v1alpha1.ProbeMarkerPolicy{}
			for _, state := range []v1alpha1.ProbeState{v1alpha1.ProbeSucceeded, v1alpha1.ProbeFailed} {
				if rapid.Bool().Draw(t, "policy") {
					policies = append(policies, sets(state, fmt.Sprint(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "key"), "=", state)))
				}
			}
			m.Spec.Probes = append(m.Spec.Probes, newProbe(fmt.Sprint("p", i), rapid.SampledFrom(types).Draw(t, "type"), policies...))
		}
		if rapid.IntRange(0, 4).Draw(t, "ends") == 0 {
			m.DeletionTimestamp = &metav1.Time{Time: now}
		}
		markers = append(markers, m)
	}
	var pods []*corev1.Pod
	n := newProbes()
	for i := range rapid.IntRange(0, 4).Draw(t, "pods") {
		name := fmt.Sprint("web-", i)
		pod := newPod(name)
		pod.Labels["app"] = rapid.SampledFrom([]string{"web", "web", "db"}).Draw(t, "app")
		if rapid.IntRange(0, 4).Draw(t, "ends") == 0 {
			ending(pod)
		}
		if rapid.IntRange(0, 5).Draw(t, "gone") > 0 {
			pods = append(pods, pod)
		}
		full := rapid.SliceOfN(rapid.SampledFrom([]string{"a#p0", "a#p1", "ab#p0", "b#p0", "by-hand"}), 0, 4)
		if probes := full.Draw(t, "probes"); len(probes) > 0 {
			n.Spec.PodProbes = append(n.Spec.PodProbes, probed(name, probes...))
		}
		var states []string
		for _, probe := range full.Draw(t, "states") {
			states = append(states, probe+"="+rapid.SampledFrom([]string{"Succeeded", "Failed", "Unknown"}).Draw(t, "state"))
		}
		says(n, name, states...)
	}
	return newSnapshot(n, pods, markers...)
}

// Whatever there is, what no marker can have given stays with its pod. Every other probe is one that a marker asks for, and
// stands there once. After a plan is carried out, nothing is left to do. (PPM-3.2 to PPM-3.5)
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		plan := NewPlan(s)
		after := carriedOut(t, s, plan)
		checkSpec(t, s, after.NodePodProbe)
		if next := NewPlan(after); next.Spec != nil || len(next.Patches) > 0 {
			t.Fatalf("not settled: %v", shown(next))
		}
		for i := range plan.Patches {
			p := &plan.Patches[i]
			if writes, err := p.Writes(p.Pod); err != nil || len(writes) != 1 {
				t.Fatalf("%d writes to pod %s, error %v", len(writes), p.Pod.Name, err)
			}
			for _, c := range p.Conditions {
				if v1alpha1.TakenCondition(string(c.Type)) {
					t.Fatalf("the condition %s is written", c.Type)
				}
			}
		}
	})
}

func carriedOut(t *rapid.T, s *Snapshot, plan *Plan) *Snapshot {
	after := *s
	after.NodePodProbe = s.NodePodProbe.DeepCopy()
	if plan.Spec != nil {
		after.NodePodProbe.Spec = *plan.Spec
	}
	after.Pods = slices.Clone(s.Pods)
	for i := range plan.Patches {
		p := &plan.Patches[i]
		patched, err := p.Apply(p.Pod)
		if err != nil {
			t.Fatal(err)
		}
		after.Pods[slices.Index(after.Pods, p.Pod)] = patched
	}
	return &after
}

func checkSpec(t *rapid.T, s *Snapshot, n *v1alpha1.NodePodProbe) {
	has := map[string]int{}
	for _, entry := range n.Spec.PodProbes {
		if len(entry.Probes) == 0 {
			t.Fatalf("pod %s has no probes", entry.Name)
		}
		for _, p := range entry.Probes {
			has[entry.Name+" "+p.Name]++
		}
	}
	want := map[string]int{}
	for _, pod := range s.Pods {
		for _, m := range s.Markers["shop"] {
			for i := range m.Spec.Probes {
				if m.Selects(pod) {
					want[pod.Name+" "+v1alpha1.ProbeName(m.Name, m.Spec.Probes[i].Name)] = 1
				}
			}
		}
		for _, entry := range s.NodePodProbe.Spec.PodProbes {
			for _, p := range entry.Probes {
				if p.Name == "by-hand" && entry.UID == pod.UID && pod.DeletionTimestamp == nil {
					want[pod.Name+" by-hand"]++
				}
			}
		}
	}
	if fmt.Sprint(has) != fmt.Sprint(want) {
		t.Fatalf("probes %v, want %v", has, want)
	}
}
