// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const threeSubsets = "subsets: [{name: a, maxReplicas: 3}, {name: b, maxReplicas: 3}, {name: c}]"

// closed gives a subset the condition that it takes no pods.
func closed(ws *v1alpha1.WorkloadSpread, subset string) *v1alpha1.WorkloadSpread {
	ws.Spec.ScheduleStrategy = v1alpha1.WorkloadSpreadScheduleStrategy{Type: "Adaptive", Adaptive: &v1alpha1.AdaptiveWorkloadSpreadStrategy{RescheduleCriticalSeconds: new(int32(30))}}
	ws.Status.SubsetStatuses = append(ws.Status.SubsetStatuses, v1alpha1.WorkloadSpreadSubsetStatus{Name: subset, Conditions: []v1alpha1.WorkloadSpreadSubsetCondition{
		{Type: v1alpha1.SubsetSchedulable, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now)}}})
	return ws
}

// WS-5: the pods of a StatefulSet go by their ordinals.
func TestAssignByOrdinal(t *testing.T) {
	const spec = "targetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}\nsubsets: [{name: a, maxReplicas: 5}, {name: b, maxReplicas: 5}, {name: c}]"
	workload := &Workload{GroupKind: StatefulSets, Name: "web", Replicas: new(int32(20))}
	started := &Workload{GroupKind: StatefulSets, Name: "web", Replicas: new(int32(20)), Start: 100, Reserved: []intstr.IntOrString{intstr.FromInt32(101), intstr.FromString("103-103"), intstr.FromInt32(103), intstr.FromInt32(7), intstr.FromString("200-2000000000"), intstr.FromString("x")}}
	for _, test := range []struct {
		name     string
		ws       *v1alpha1.WorkloadSpread
		workload *Workload
		want     string
	}{
		{"web-0", spreadOf(t, spec), workload, "a"},
		{"web-4", spreadOf(t, spec), workload, "a"},
		{"web-5", spreadOf(t, spec), workload, "b"},
		{"web-9", spreadOf(t, spec), workload, "b"},
		{"web-10", spreadOf(t, spec), workload, "c"},
		{"web-0", closed(spreadOf(t, spec), "a"), workload, "b"},
		{"web-5", closed(spreadOf(t, spec), "a"), workload, "c"},
		{"web-6", spreadOf(t, spec), nil, "b"},
		{"web-100", spreadOf(t, spec), started, "a"},
		{"web-106", spreadOf(t, spec), started, "a"},
		{"web-107", spreadOf(t, spec), started, "b"},
		{"web", spreadOf(t, spec), workload, ""},
		{"web-10", spreadOf(t, "targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: web}\nsubsets: [{name: a, maxReplicas: 5}, {name: b, maxReplicas: 5}]"), workload, ""},
	} {
		got := assign(Input{Pod: newPod(test.name, ""), Spread: test.ws, Workload: test.workload, Now: now})
		if got.Subset != test.want || got.Counted {
			t.Errorf("%s: subset %q (%s), counted %t, want %q", test.name, got.Subset, got.Why, got.Counted, test.want)
		}
	}
}

// WS-9: a pod that is one too many is told.
func TestAssignBeyond(t *testing.T) {
	for _, test := range []struct {
		name       string
		kind       *Workload
		ownerWants *int32
		pods       []*corev1.Pod
		reserved   int
		want       bool
	}{
		{name: "a ReplicaSet misses one", kind: deployment(10), ownerWants: new(int32(3)), pods: some(2, "a")},
		{name: "a ReplicaSet has all", kind: deployment(10), ownerWants: new(int32(3)), pods: some(3, "a"), want: true},
		{name: "with the reserved", kind: deployment(10), ownerWants: new(int32(3)), pods: some(2, "a"), reserved: 1, want: true},
		{name: "another ReplicaSet has all", kind: deployment(10), ownerWants: new(int32(3)), pods: some(3, "a", revision("2"))},
		{name: "nobody knows the ReplicaSet", kind: deployment(3), pods: some(3, "a")},
		{name: "a CloneSet has all", kind: &Workload{GroupKind: CloneSets, Replicas: new(int32(3))}, pods: some(3, "a"), want: true},
		{name: "a CloneSet is updated", kind: &Workload{GroupKind: CloneSets, Replicas: new(int32(3))}, pods: append(some(3, "a"), newPod("x", "a", revision("2")))},
		{name: "nobody knows the workload", pods: some(3, "a"), want: true},
	} {
		in := Input{Pod: unnamed(), Spread: spreadOf(t, threeSubsets), Workload: test.kind, OwnerWants: test.ownerWants, Pods: test.pods, Now: now}
		for range test.reserved {
			in.Reservations = append(in.Reservations, Reservation{Key: "k", Subset: "a", Owner: "web-1", Revision: "1", Expires: now})
		}
		if got := assign(in); got.Beyond != test.want {
			t.Errorf("%s: beyond %t, want %t", test.name, got.Beyond, test.want)
		}
	}
}

// WS-7: if there would be more pods than wanted with the reserved ones, the oldest of those were refused.
func TestAssignRefused(t *testing.T) {
	reserved := func(key string, age time.Duration) Reservation {
		return Reservation{Key: key, Subset: "a", Owner: "web-1", Revision: "1", Since: now.Add(-age), Expires: now.Add(ReservedFor - age)}
	}
	refused := []Reservation{reserved("new", 0), reserved("older", 2*time.Second), reserved("oldest", 3*time.Second)}
	for _, test := range []struct {
		name       string
		kind       *Workload
		ownerWants *int32
		reserved   []Reservation
		want       string
	}{
		{"there is room for all", deployment(10), new(int32(6)), refused, "b"},
		{"one is too many", deployment(10), new(int32(4)), refused, "b"},
		{"two are", deployment(10), new(int32(3)), refused, "a"},
		{"what is new counts", deployment(10), new(int32(1)), []Reservation{reserved("k", 0), reserved("l", settleFor), reserved("m", 0)}, "b"},
		{"nobody knows since when", deployment(10), new(int32(1)), []Reservation{{Key: "k", Subset: "a", Owner: "web-1", Revision: "1", Expires: now},
			{Key: "l", Subset: "a", Owner: "web-1", Revision: "1", Expires: now}}, "b"},
		{"nobody knows the ReplicaSet", deployment(4), nil, refused, "b"},
		{"a CloneSet", &Workload{GroupKind: CloneSets, Replicas: new(int32(3))}, nil, refused, "a"},
		{"a CloneSet that misses more", &Workload{GroupKind: CloneSets, Replicas: new(int32(5))}, nil, refused, "b"},
		{"nobody knows the workload", nil, nil, refused, "b"},
	} {
		in := Input{Pod: unnamed(), Spread: spreadOf(t, threeSubsets), Workload: test.kind, OwnerWants: test.ownerWants,
			Pods: some(1, "a"), Reservations: test.reserved, Now: now}
		if got := assign(in); got.Subset != test.want {
			t.Errorf("%s: subset %q (%s), want %q", test.name, got.Subset, got.Why, test.want)
		}
	}
}

// WS-6: a pod that was assigned keeps its subset.
func TestAssignAgain(t *testing.T) {
	const spec = `subsets:
- {name: a, maxReplicas: 3, requiredNodeSelectorTerm: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}
- {name: b, maxReplicas: 3}
- {name: c}`
	in := Input{Pod: unnamed(), Spread: spreadOf(t, spec), Workload: deployment(10), Key: "k", Now: now}
	first, err := Inject(in)
	if err != nil || first.Subset != "a" || !first.Counted {
		t.Fatalf("subset %q, counted %t, error %v", first.Subset, first.Counted, err)
	}
	in.Reservations = []Reservation{first.Reservation}
	in.Pods = some(3, "a")
	in.Pod = first.Pod
	in.Key = "another"
	again, err := Inject(in)
	if err != nil || again.Subset != "a" || again.Counted {
		t.Fatalf("again: subset %q, counted %t, error %v", again.Subset, again.Counted, err)
	}
	if diff := cmp.Diff(first.Pod, again.Pod); diff != "" {
		t.Errorf("again (-first +again) %s", diff)
	}
	in.Reservations = nil // another replica was asked first
	if got := assign(in); got.Subset != "a" {
		t.Errorf("by another replica: subset %q, want a", got.Subset)
	}
	in.Pod = unnamed(func(pod *corev1.Pod) { pod.Annotations = first.Pod.Annotations })
	if got := assign(in); got.Subset != "b" {
		t.Errorf("with the annotation of a template: subset %q, want b", got.Subset)
	}
	named := newPod("web-x", "")
	in.Pod, in.Reservations = named, []Reservation{{Key: "web-x", Subset: "c", Expires: now}}
	if got := assign(in); got.Subset != "c" || got.Counted {
		t.Errorf("a reserved name: subset %q, counted %t, want c", got.Subset, got.Counted)
	}
	open := in.Spread
	in.Spread = closed(spreadOf(t, spec), "c")
	if got := assign(in); got.Subset == "c" {
		t.Error("a name that is reserved in a subset which is closed by now: subset c")
	}
	in.Spread = open
	in.Reservations[0].Expires = now.Add(-time.Second)
	if got := assign(in); got.Subset != "b" {
		t.Errorf("an expired name: subset %q, want b", got.Subset)
	}
}

func TestAssignNothing(t *testing.T) {
	gone := spreadOf(t, threeSubsets)
	gone.DeletionTimestamp = new(metav1.NewTime(now))
	for _, in := range []Input{{}, {Pod: unnamed()}, {Pod: unnamed(), Spread: &v1alpha1.WorkloadSpread{}}, {Pod: unnamed(), Spread: gone}} {
		if got := assign(in); got.Subset != "" || got.Why == "" {
			t.Errorf("subset %q because %q (WS-4)", got.Subset, got.Why)
		}
	}
	// Neither a target nor pods: nothing that is missing is missed. (WS-2)
	ws := &v1alpha1.WorkloadSpread{Spec: v1alpha1.WorkloadSpreadSpec{Subsets: []v1alpha1.WorkloadSpreadSubset{{Name: "a"}, {Name: "b"}}}}
	if got := assign(Input{Pod: &corev1.Pod{}, Spread: ws, Pods: []*corev1.Pod{nil}, Now: now}); got.Subset != "a" {
		t.Errorf("subset %q, want a", got.Subset)
	}
}
