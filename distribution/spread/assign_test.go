// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
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

func TestAssign(t *testing.T) {
	of := func(pods ...[]*corev1.Pod) []*corev1.Pod { return slices.Concat(pods...) }
	old, latest := revision("1"), revision("2")
	reserved := func(subset string, age time.Duration) Reservation {
		return Reservation{Key: "k-" + subset, Subset: subset, Owner: "web-1", Revision: "1", Expires: now.Add(ReservedFor - age)}
	}
	for _, test := range []struct {
		name     string
		spec     string
		wants    int32
		revision string
		pods     []*corev1.Pod
		reserved []Reservation
		pod      *corev1.Pod
		want     string
	}{
		{name: "WS-4: one subset for all", spec: "subsets: [{name: a}]", wants: 1, want: "a"},
		{name: "WS-8.1: the first", spec: threeSubsets, wants: 10, want: "a"},
		{name: "WS-8.1: the first with less than its share", spec: threeSubsets, wants: 10, pods: of(some(3, "a"), some(2, "b")), want: "b"},
		{name: "WS-8.1: the rest", spec: threeSubsets, wants: 10, pods: of(some(3, "a"), some(3, "b")), want: "c"},
		{name: "WS-8: ended pods and those that go do not count", spec: threeSubsets, wants: 10, pods: of(some(2, "a"), []*corev1.Pod{newPod("x", "a", ended), newPod("y", "a", deleting)}), want: "a"},
		{name: "WS-8.3: more than the workload wants", spec: threeSubsets, wants: 6, pods: of(some(3, "a"), some(3, "b")), want: "c"},
		{name: "WS-8.3: a workload that nobody knows", spec: threeSubsets, pods: some(3, "a"), want: "b"},
		{name: "WS-8: all are full", spec: "subsets: [{name: a, maxReplicas: 1}, {name: b, maxReplicas: 1}]", wants: 9, pods: of(some(1, "a"), some(1, "b")), want: ""},
		{name: "WS-2: 30% of 7 is 3", spec: "subsets: [{name: a, maxReplicas: 30%}, {name: b}]", wants: 7, pods: some(2, "a"), want: "a"},
		{name: "WS-2: and not 4", spec: "subsets: [{name: a, maxReplicas: 30%}, {name: b}]", wants: 7, pods: some(3, "a"), want: "b"},
		{name: "WS-2: 80% of 5 is 4", spec: "subsets: [{name: a, maxReplicas: 80%}, {name: b}]", wants: 5, pods: some(4, "a"), want: "b"},
		{name: "WS-2: what cannot be read takes none", spec: "subsets: [{name: a, maxReplicas: many}, {name: b}]", wants: 5, want: "b"},
		{name: "WS-2: a negative number takes none", spec: "subsets: [{name: a, maxReplicas: -3}, {name: b}]", wants: 5, want: "b"},
		{name: "WS-7: what is reserved counts", spec: threeSubsets, wants: 10, pods: some(2, "a"), reserved: []Reservation{reserved("a", 0)}, want: "b"},
		{name: "WS-7: at most 30 s", spec: threeSubsets, wants: 10, pods: some(2, "a"), reserved: []Reservation{reserved("a", 31*time.Second)}, want: "a"},
		{name: "WS-7: until it is seen", spec: threeSubsets, wants: 10, pods: []*corev1.Pod{newPod("x", "", func(pod *corev1.Pod) {
			pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = `{"name":"web","subset":"a","uid":"k-a"}`
		}), newPod("y", "a")}, reserved: []Reservation{reserved("a", 0)}, want: "a"},
		{name: "WS-7: of a subset that is gone", spec: threeSubsets, wants: 10, reserved: []Reservation{reserved("z", 0)}, want: "a"},
		{name: "WS-8.2: in a surge the latest revision begins from the start", spec: threeSubsets, wants: 10, revision: "2", pod: unnamed(latest),
			pods: of(some(3, "a", old), some(3, "b", old), some(4, "c", old)), want: "a"},
		{name: "WS-8.2: and goes on", spec: threeSubsets, wants: 10, revision: "2", pod: unnamed(latest),
			pods: of(some(3, "a", latest), some(3, "b", old), some(4, "c", old)), want: "b"},
		{name: "WS-8.1: what an old pod has left comes first", spec: threeSubsets, wants: 10, revision: "2", pod: unnamed(latest),
			pods: of(some(3, "a", old), some(2, "b", old), some(4, "c", old)), want: "b"},
		{name: "WS-8.1: unless the latest revision has its share there", spec: threeSubsets, wants: 10, revision: "2", pod: unnamed(latest),
			pods: of(some(1, "a", old), some(2, "a", latest), some(3, "b", old), some(4, "c", latest)), want: "a"},
		{name: "WS-8.3: an old revision gets no place of the latest one", spec: threeSubsets, wants: 10, revision: "2", pod: unnamed(old),
			pods: of(some(3, "a", latest), some(3, "b", old), some(4, "c", old)), want: "c"},
		{name: "WS-3: what is in no subset leaves the others less", spec: "subsets: [{name: a, maxReplicas: 1}, {name: b}]", wants: 2, revision: "2", pod: unnamed(latest),
			pods: of(some(1, "a", old), some(1, "", latest)), want: "a"},
		{name: "WS-3: unless it is of an old revision", spec: "subsets: [{name: a, maxReplicas: 1}, {name: b}]", wants: 2, revision: "2", pod: unnamed(latest),
			pods: of(some(1, "a", old), some(1, "", old)), want: "b"},
		{name: "WS-8: the name of a revision ends in the label", spec: threeSubsets, wants: 10, revision: "web-2", pod: unnamed(latest),
			pods: of(some(3, "a", old), some(3, "b", old), some(4, "c", old)), want: "a"},
		{name: "WS-4: the annotation of another WorkloadSpread", spec: threeSubsets, wants: 10, pods: []*corev1.Pod{newPod("x", "", func(pod *corev1.Pod) {
			pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = `{"name":"db","subset":"a"}`
		}), newPod("y", "", func(pod *corev1.Pod) { pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = "{" })}, want: "a"},
		{name: "WS-4: names in any case", spec: "subsets: [{name: a, maxReplicas: 1}, {name: b}]", wants: 10, pods: []*corev1.Pod{newPod("x", "", func(pod *corev1.Pod) {
			pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = `{"Name":"web", "Subset":"a"}`
		})}, want: "b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.pod == nil {
				test.pod = unnamed()
			}
			workload := deployment(test.wants)
			workload.Revision = test.revision
			got := assign(Input{Pod: test.pod, Spread: spreadOf(t, test.spec), Workload: workload, Pods: test.pods, Reservations: test.reserved, Now: now})
			if got.Subset != test.want {
				t.Errorf("subset %q (%s), want %q", got.Subset, got.Why, test.want)
			}
		})
	}
}

// A subset whose pods could not be scheduled is passed over, and its share goes to others. (WS-3,
// WS-17)
func TestAssignPassesOver(t *testing.T) {
	for _, test := range []struct {
		name   string
		closed string
		pods   []*corev1.Pod
		want   string
	}{
		{"the first", "a", nil, "b"},
		{"its pods stay", "a", slices.Concat(some(2, "a"), some(3, "b")), "c"},
		{"another", "b", some(3, "a"), "c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := assign(Input{Pod: unnamed(), Spread: closed(spreadOf(t, threeSubsets), test.closed), Workload: deployment(10), Pods: test.pods, Now: now})
			if got.Subset != test.want {
				t.Errorf("subset %q (%s), want %q", got.Subset, got.Why, test.want)
			}
		})
	}
	ws := closed(spreadOf(t, threeSubsets), "a")
	ws.Spec.ScheduleStrategy = v1alpha1.WorkloadSpreadScheduleStrategy{}
	if got := assign(Input{Pod: unnamed(), Spread: ws, Workload: deployment(10), Now: now}); got.Subset != "a" {
		t.Errorf("subset %q with another strategy, want a", got.Subset)
	}
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
