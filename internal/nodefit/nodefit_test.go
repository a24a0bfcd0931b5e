// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestFits shows in testdata/fits.txt why pods do not fit on a node, and to which node they are pinned. A lack of resources keeps no daemon
// pod off a node. If a node keeps only new pods away, a daemon pod that runs there stays. "unreachable" shows since when a node is.
func TestFits(t *testing.T) {
	datadriven.RunTest(t, "testdata/fits.txt", func(t *testing.T, d *datadriven.TestData) string {
		text, of, _ := strings.Cut(d.Input, "\n")
		var pod corev1.Pod
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "here"}}
		if err := errors.Join(yaml.UnmarshalStrict([]byte(text), &pod.Spec), yaml.UnmarshalStrict([]byte(of), &node)); err != nil {
			t.Fatal(err)
		}
		fit := func(misfit Misfit) string { return cmp.Or(string(misfit), "fits") }
		switch d.Cmd {
		case "unreachable":
			since, unreachable := Unreachable(&node)
			return fmt.Sprintf("%t, since %s\n", unreachable, since.UTC().Format(time.RFC3339))
		case "daemon":
			c := NewDaemon(&pod.Spec)
			return fmt.Sprintf("%s, stays: %t\n", fit(c.Check(&node)), c.Stays(&node))
		case "pinned":
			return fmt.Sprintf("to node %q, %s\n", NodeOf(&pod), fit(New(&pod.Spec).Check(&node)))
		}
		return fit(New(&pod.Spec).Check(&node)) + "\n"
	})
}

func TestPin(t *testing.T) {
	preferred := []corev1.PreferredSchedulingTerm{{Weight: 1}}
	template := corev1.PodSpec{
		NodeSelector: map[string]string{"zone": "a"},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: preferred,
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"n"}}}}}},
		}},
	}
	if got := PinnedTo(&template); got != "" {
		t.Errorf("the template is pinned to %q", got)
	}
	pod := template
	Pin(&pod, "n")
	if got := PinnedTo(&pod); got != "n" {
		t.Errorf("pinned to %q, want n", got)
	}
	if got := PinnedTo(&template); got != "" || len(pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("the template is pinned to %q, the pod prefers %v", got, pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	node := func(name, zone string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": zone}},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{"cpu": resource.MustParse("1")}}}
	}
	for _, test := range []struct {
		node *corev1.Node
		want Misfit
	}{{node("n", "a"), ""}, {node("n", "b"), NodeAffinity}, {node("m", "a"), NodeName}} {
		if got := New(&pod).Check(test.node); got != test.want {
			t.Errorf("node %s in zone %s: misfit %q, want %q", test.node.Name, test.node.Labels["zone"], got, test.want)
		}
	}
}
