// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// A count reads of a pod what it read before, until the cache has another version of it.
func TestPodsAreReadOncePerVersion(t *testing.T) {
	var r readings
	pods := []*corev1.Pod{newPod("a", ownerOf("apps/v1", "ReplicaSet", "web", "rs")), newPod("b", ownerOf("apps/v1", "ReplicaSet", "web", "rs"))}
	before := r.of("default", pods)
	changed := pods[1].DeepCopy()
	changed.Status.Phase = corev1.PodFailed
	after := r.of("default", []*corev1.Pod{pods[0], changed})
	if after[0] != before[0] {
		t.Error("a pod that did not change was read again")
	}
	if after[1].Pod != changed || after[1].Active || !before[1].Active {
		t.Errorf("of a pod that failed: active %t, and before %t", after[1].Active, before[1].Active)
	}
	if other := r.of("other", pods[:1]); other[0] == before[0] {
		t.Error("namespaces share what was read")
	}
}

// Versions of pods that are gone take no memory for long, and those of a namespace without budgets none.
func TestReadingsAreBounded(t *testing.T) {
	var r readings
	pod := newPod("a", ownerOf("apps/v1", "ReplicaSet", "web", "rs"))
	for i := range 1000 {
		pod = pod.DeepCopy()
		pod.ResourceVersion = fmt.Sprint(i)
		r.of("default", []*corev1.Pod{pod})
	}
	if n := len(r.namespaces["default"].pods); n > 12 {
		t.Errorf("%d versions of one pod are kept", n)
	}
	if r.forget("default"); len(r.namespaces) > 0 {
		t.Errorf("%d namespaces are kept", len(r.namespaces))
	}
}

// What was read before changes no plan, and a caller may give a Snapshot other pods.
func TestReadingsChangeNoPlan(t *testing.T) {
	for _, by := range []string{"selector", "targetRef"} {
		w := newCrowdedNamespace(t, 3, 4, by)
		for i := range 8 {
			w.event(i, true)
		}
		s, err := w.reconciler.Snapshot(context.Background(), w.key(1))
		if err != nil || len(s.candidates) == 0 {
			t.Fatalf("%s: %v, %d candidates", by, err, len(s.candidates))
		}
		with := NewPlan(s)
		s.read, s.candidates = nil, nil
		if diff := cmp.Diff(NewPlan(s).String(), with.String()); diff != "" || with.Computed.CurrentAvailable != 4 {
			t.Errorf("%s: %d available, (-without +with) %s", by, with.Computed.CurrentAvailable, diff)
		}
		s, err = w.reconciler.Snapshot(context.Background(), w.key(1))
		if err != nil {
			t.Fatal(err)
		}
		s.Pods = nil
		if p := NewPlan(s); p.Computed.CurrentAvailable != 0 {
			t.Errorf("%s: %d available of no pods", by, p.Computed.CurrentAvailable)
		}
	}
}

// A count costs little of pods that did not change: no memory for each of them.
func TestCountsOfManyPodsAllocateLittle(t *testing.T) {
	for _, by := range []string{"selector", "targetRef"} {
		w := newCrowdedNamespace(t, 1, 1000, by)
		allocations := testing.AllocsPerRun(10, func() {
			if p, err := w.reconciler.Plan(context.Background(), w.key(0)); err != nil || p.Computed.CurrentAvailable != 1000 {
				t.Fatal(err, p)
			}
		})
		if allocations > 200 {
			t.Errorf("%s: %v allocations", by, allocations)
		}
	}
}
