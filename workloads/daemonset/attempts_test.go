// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DS-7: a node comes last while the last creation for it was refused, and no longer.
func TestRefusedNodes(t *testing.T) {
	var a attempts
	set := newSet()
	a.ended(set, "n1", errors.New("refused"))
	a.ended(set, "n2", errors.New("refused"))
	if nodes, _ := a.of(set); !nodes["n1"] || !nodes["n2"] || len(nodes) != 2 {
		t.Errorf("refused nodes %v", nodes)
	}
	a.ended(set, "n1", nil)
	if nodes, _ := a.of(set); nodes["n1"] || !nodes["n2"] {
		t.Errorf("refused nodes %v, after the pod of n1 was created", nodes)
	}
	another := set.DeepCopy()
	another.UID = "another"
	if nodes, names := a.of(another); nodes != nil || names != nil {
		t.Errorf("another set of the name has the refused nodes %v and names %v", nodes, names)
	}
	a.forget(keyOf(set))
	if nodes, _ := a.of(set); len(nodes) > 0 {
		t.Errorf("refused nodes %v are not forgotten", nodes)
	}
}

// DS-11: that an update took a pod out of service is remembered until its node has an available one.
func TestDisruptedNodes(t *testing.T) {
	for name, test := range map[string]struct {
		nodes string
		want  map[string]bool
	}{
		"no pod":                     {"n1", map[string]bool{"n1": true}},
		"a pod that is not":          {"n1:v1+down", map[string]bool{"n1": true}},
		"an available one":           {"n1:v1", map[string]bool{}},
		"one that is terminating":    {"n1:v1+leaving", map[string]bool{"n1": true}},
		"one of another node":        {"n1 n2:v1", map[string]bool{"n1": true}},
		"no node":                    {"n2:v1", map[string]bool{}},
		"ready since a moment":       {"n1:v1+back", map[string]bool{"n1": true}},
		"an available one beside it": {"n1:v1+leaving n1:v2", map[string]bool{}},
	} {
		var a attempts
		s := place(t, setOf(t, ready10(two)), test.nodes)
		a.disrupts(s.Set, "n1")
		for range 2 { // the second time of what was noted the first time
			if diff := cmp.Diff(test.want, a.disrupted(s.Set, s.Pods, s.Nodes, noon), cmp.Transformer("empty", func(m map[string]bool) int { return len(m) })); diff != "" {
				t.Errorf("%s (-want +got): %s", name, diff)
			}
		}
	}
}

// DS-11: a pod that became ready, or unready, no later than minReadySeconds after its creation was never available.
func TestNeverAvailable(t *testing.T) {
	for after, want := range map[time.Duration]bool{9 * time.Second: true, 10 * time.Second: true, 11 * time.Second: false} {
		s := place(t, setOf(t, ready10(two)), "n1:v1+never")
		s.Pods[0].Status.Conditions[0].LastTransitionTime = metav1.NewTime(s.Pods[0].CreationTimestamp.Add(after))
		p := &planner{Snapshot: s}
		view := &pod{}
		view.Pod = s.Pods[0]
		if got := p.neverAvailable(view); got != want {
			t.Errorf("unready %s after its creation: never available: %t, want %t", after, got, want)
		}
	}
}
