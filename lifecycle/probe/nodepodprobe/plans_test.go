// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlans shows the plans of node-1, which is ready and has an empty NodePodProbe. Lines that follow say what else there is, each
// with changes after semicolons. "serverless" has the feature, and "one-namespace" a controller of the namespace shop alone. "writes" shows the
// requests that patch pods.
//
//	node virtual             or unready, leaving, gone; and "no-probes" or "probes-leave" is about its NodePodProbe
//	entry web-0 games#idle   what it asks for of a pod: probes, perhaps "at 10.0.0.1"
//	says web-0 games#idle=Failed
//	wrote 3s                 what the lines before have been written so long ago
//	reports Failed 4 players what the agent says now; "clock 7s" is how late it is, and "generation" another one of the marker
//	pod web-0; label idle yes
//	                         with words of testdata/words.yaml
//	marker games; probe idle Idle; sets Succeeded idle=yes; notes cost=1
//	                         probes with a condition type or none, and what their states set; further changes are "leaving", "in other",
//	                         and "selects everything" or "selects badly"
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := newSnapshot(newProbes(), nil)
			s.Serverless = d.Cmd == "serverless"
			if d.Cmd == "one-namespace" {
				s.Namespace = "shop"
			}
			for line := range strings.Lines(d.Input) {
				s.read(t, strings.Split(strings.TrimSpace(line), "; "))
			}
			if d.Cmd == "writes" {
				return s.writes(t)
			}
			return strings.Join(append(shown(NewPlan(s)), ""), "\n")
		})
	})
}

// writes shows the requests that patch pods.
func (s *Snapshot) writes(t *testing.T) (out string) {
	t.Helper()
	for _, patch := range NewPlan(s).Patches {
		writes, err := patch.Writes(patch.Pod)
		if err != nil {
			t.Fatal(err)
		}
		for _, write := range writes {
			out += write.Subresource + " " + string(write.Data) + "\n"
		}
	}
	return out
}

// read reads a line.
func (s *Snapshot) read(t *testing.T, parts []string) {
	t.Helper()
	switch words := strings.Fields(parts[0]); words[0] {
	case "node":
		if s.Node = nil; words[1] != "gone" {
			s.Node = newNode(words[1])
		}
	case "no-probes":
		s.NodePodProbe = nil
	case "probes-leave":
		s.NodePodProbe.DeletionTimestamp = &metav1.Time{Time: now}
	case "entry":
		s.NodePodProbe.Spec.PodProbes = append(s.NodePodProbe.Spec.PodProbes, probed(words[1], words[2:]...))
	case "says":
		says(s.NodePodProbe, words[1], words[2:]...)
	case "pod":
		changes := parts[1:]
		for i := range changes { // label idle yes: a word with a value of two parts
			changes[i] = strings.Replace(strings.Replace(changes[i], " ", "=", 1), " ", ":", 1)
		}
		s.Pods = append(s.Pods, newPod(words[1], changes...))
	case "wrote":
		for _, patch := range NewPlan(s).Patches {
			s.Wrote = map[types.UID]Wrote{patch.Pod.UID: {Results: patch.Results, At: now.Add(-patches.Duration(t, words[1]))}}
		}
	case "reports":
		state := &s.NodePodProbe.Status.PodProbeStatuses[0].ProbeStates[0]
		state.State, state.Message = v1alpha1.ProbeState(words[1]), strings.Join(words[2:], " ")
	case "clock":
		s.Now = now.Add(patches.Duration(t, words[1]))
	case "generation":
		s.Markers["shop"][0].Generation++
	case "marker":
		m := newMarker(words[1])
		for _, change := range parts[1:] {
			changeMarker(m, strings.Fields(change))
		}
		s.Markers[m.Namespace] = append(s.Markers[m.Namespace], m)
	default:
		t.Fatalf("unknown line %q", parts)
	}
}

func changeMarker(m *v1alpha1.PodProbeMarker, said []string) {
	last := len(m.Spec.Probes) - 1
	switch said[0] {
	case "probe":
		m.Spec.Probes = append(m.Spec.Probes, newProbe(said[1], strings.Join(said[2:], "")))
	case "sets":
		m.Spec.Probes[last].MarkerPolicy = append(m.Spec.Probes[last].MarkerPolicy, sets(v1alpha1.ProbeState(said[1]), said[2:]...))
	case "notes": // by the last policy
		policy := &m.Spec.Probes[last].MarkerPolicy[len(m.Spec.Probes[last].MarkerPolicy)-1]
		*policy = annotates(*policy, said[1:]...)
	case "period":
		m.Spec.Probes[last].Probe.PeriodSeconds = 5
	default:
		*m = *patches.Changed(words, m, strings.Join(said, "="))
	}
}

func TestNothingToPlanFor(t *testing.T) {
	if got := shown(NewPlan(nil)); len(got) > 0 {
		t.Errorf("plan %v, want none", got)
	}
}
