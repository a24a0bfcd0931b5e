// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now.Time)

func newMarker(changes ...string) *v1alpha1.PodProbeMarker {
	return patches.Changed(words, &v1alpha1.PodProbeMarker{}, append([]string{"games"}, changes...)...)
}

func newPod(name string, changes ...string) *corev1.Pod {
	pod := patches.Changed(words, &corev1.Pod{}, append([]string{"initialized"}, changes...)...)
	pod.Name, pod.UID = name, types.UID("uid-"+name)
	return pod
}

func newProbes(node string, changes ...string) *v1alpha1.NodePodProbe {
	n := patches.Changed(words, &v1alpha1.NodePodProbe{}, append([]string{"asks"}, changes...)...)
	n.Name = node
	return n
}

// shown shows a plan in one line.
func shown(p *Plan) (out string) {
	if p.Finalizers != nil {
		out += fmt.Sprint("finalizers ", *p.Finalizers, " ")
	}
	if p.Status != nil {
		out += fmt.Sprintf("status {ObservedGeneration:%d MatchedPods:%d} ", p.Status.ObservedGeneration, p.Status.MatchedPods)
		if told := heldup.Kubernetes.Told(p.Status.Conditions); told != nil {
			out += told.Reason + ": " + told.Message + " "
		}
	}
	if len(p.Waiting) > 0 {
		out += fmt.Sprintf("wait: %s %v ", p.Waiting[0], p.Nodes)
	}
	if len(p.NoContainer) > 0 {
		out += fmt.Sprint("no container: ", p.NoContainer)
	}
	for _, problem := range p.Problems {
		out += problem.String()
	}
	return out
}

// TestPlans shows in testdata/plans.txt what is done about a marker. Lines tell of it, of pods, and of nodes that have its probes, with words of
// testdata/words.yaml. (PPM-2.1 to PPM-2.4)
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := &Snapshot{}
		for line := range strings.Lines(d.Input) {
			switch said := strings.Fields(line); said[0] {
			case "marker":
				s.Marker = newMarker(said[1:]...)
			case "pod":
				s.Pods = append(s.Pods, newPod(said[1], said[2:]...))
			case "node":
				s.Probed = append(s.Probed, newProbes(said[1], said[2:]...))
			}
		}
		if s.Marker == nil {
			return shown(NewPlan(nil))
		}
		return strings.TrimPrefix(shown(NewPlan(s))+"\n", "\n")
	})
}

// PPM-2.7: caches have no order, and what is told is the same each time.
func TestHeldUpIsToldInOneOrder(t *testing.T) {
	since := now.Add(-time.Hour)
	tell := func(pods ...*corev1.Pod) string {
		return shown(NewPlan(&Snapshot{Marker: newMarker(), Pods: pods, Now: now.Time, HeldSince: heldup.Since{
			{Kind: "pod", Name: "a"}: since, {Kind: "pod", Name: "b"}: since,
		}}))
	}
	one, other := tell(newPod("a"), newPod("b")), tell(newPod("b"), newPod("a"))
	if one != other || !strings.Contains(one, "pod a (and b): ") {
		t.Errorf("%q, and in another order of the cache %q", one, other)
	}
}
