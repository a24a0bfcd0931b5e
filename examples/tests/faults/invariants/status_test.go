// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// counted is a workload of a generation that comes from the base spec. Its status says how many pods there are at an image,
// and how many are ready.
func counted(kind func(*spec, metav1.ObjectMeta) metav1.Object, generation, observed int64, replicas, ready int32, image string) metav1.Object {
	object := kind(base(), metav1.ObjectMeta{Name: "web", UID: setUID, Generation: generation})
	switch set := object.(type) {
	case *v1alpha1.CloneSet:
		s := &set.Status
		s.ObservedGeneration, s.Replicas, s.UpdatedReplicas, s.UpdateRevision = observed, replicas, replicas, revisionOf(image)
		s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas = ready, ready, ready, ready
		s.CurrentRevision, s.ExpectedUpdatedReplicas, s.LabelSelector = revisionOf("web:1"), *set.Spec.Replicas, "app=web"
	case *v1beta1.StatefulSet:
		s := &set.Status
		s.ObservedGeneration, s.Replicas, s.UpdatedReplicas, s.UpdateRevision = observed, replicas, replicas, revisionOf(image)
		s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas = ready, ready, ready, ready
		s.CurrentRevision, s.CurrentReplicas, s.LabelSelector = revisionOf("web:1"), replicas, "app=web"
	}
	return waiting(object, replicas == base().replicas && ready == replicas)
}

// waiting has consumers wait for a workload unless the spec is reached.
func waiting(object metav1.Object, reached bool) metav1.Object {
	if reached {
		return object
	}
	switch set := object.(type) {
	case *v1alpha1.CloneSet:
		set.Status.Conditions = []v1alpha1.CloneSetCondition{{Type: v1alpha1.CloneSetConditionReconciling, Status: corev1.ConditionTrue}}
	case *v1beta1.StatefulSet:
		set.Status.Conditions = []appsv1.StatefulSetCondition{{Type: v1beta1.StatefulSetConditionReconciling, Status: corev1.ConditionTrue}}
	}
	return object
}

// current has the status of a workload name a current revision.
func current(object metav1.Object, revision string) metav1.Object {
	switch set := object.(type) {
	case *v1alpha1.CloneSet:
		set.Status.CurrentRevision = revision
	case *v1beta1.StatefulSet:
		set.Status.CurrentRevision = revision
	}
	return object
}

func TestStatusesAreJudged(t *testing.T) {
	p0, p1, p2 := pod("web-0"), pod("web-1"), pod("web-2")
	for name, kind := range map[string]func(*spec, metav1.ObjectMeta) metav1.Object{"CloneSet": (*spec).cloneSet, "StatefulSet": (*spec).statefulSet} {
		old := counted(kind, 1, 1, 0, 0, "web:1")
		for _, s := range []scenario{
			{"it counts what there is", nil, objects(p0, p1, p2), old, counted(kind, 1, 1, 3, 3, "web:1"), false, nil},
			{"it counts too many", nil, objects(p0, p1, p2), old, counted(kind, 1, 1, 4, 3, "web:1"), false, breaks(invariants.Status)},
			{"it counts the wrong ones as ready", nil, objects(p0, p1, pod("web-2", out)), old, counted(kind, 1, 1, 3, 3, "web:1"), false, breaks(invariants.Status)},
			{"it counts the wrong ones as updated", nil, objects(p0, p1, p2), old, counted(kind, 1, 1, 3, 3, "web:2"), false, breaks(invariants.Status)},
			{"it says that another revision is current", nil, objects(p0, p1, p2), old, current(counted(kind, 1, 1, 3, 3, "web:1"), "web-0"), false, breaks(invariants.Status)},
			{"it has not seen its generation", nil, objects(p0, p1, p2), old, counted(kind, 1, 2, 3, 3, "web:1"), false, breaks(invariants.Status)},
			{"a user changes the spec", nil, objects(p0), old, counted(kind, 2, 1, 3, 3, "web:1"), false, nil},
			{"it counts too many, in a gap", nil, objects(p0, p1, p2), old, counted(kind, 1, 1, 4, 3, "web:1"), true, nil},
		} {
			s.name = name + ": " + s.name
			s.check(t, kind)
		}
	}
}

// TestStatusesOfEarlierPodsAreJudged makes sure that a status may be late, but not from before all was settled, and that a gap hides what
// it may count.
func TestStatusesOfEarlierPodsAreJudged(t *testing.T) {
	p0, p1 := pod("web-0"), pod("web-1")
	for _, late := range []struct {
		name         string
		settled, gap bool
		wrong        []invariants.Invariant
	}{
		{"it counts the pods of a moment ago", false, false, nil},
		{"it counts the pods of before all was settled", true, false, breaks(invariants.Status)},
		{"it counts pods of a gap", true, true, nil},
	} {
		j := NewJudge()
		j.See([]Change{{New: base().revision(t)}, {New: counted((*spec).cloneSet, 1, 1, 0, 0, "web:1")}}, false)
		j.See([]Change{{New: p0}}, false)
		j.See([]Change{{New: p1}}, false)
		if late.settled {
			j.Settled()
		}
		j.See([]Change{{New: pod("web-2")}}, late.gap)
		var wrong []invariants.Invariant
		for _, v := range j.See([]Change{{Old: counted((*spec).cloneSet, 1, 1, 0, 0, "web:1"), New: counted((*spec).cloneSet, 1, 1, 1, 1, "web:1")}}, false) {
			wrong = breaks(v.Invariant)
		}
		if diff := cmp.Diff(late.wrong, wrong); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", late.name, diff)
		}
	}
}

// TestStatusesWithCreatedPodsAreJudged makes sure that the status of a CloneSet may count pods that were there, and pods that its
// author has created since. These pods have never been there together.
func TestStatusesWithCreatedPodsAreJudged(t *testing.T) {
	kinds := map[string]func(*spec, metav1.ObjectMeta) metav1.Object{"CloneSet": (*spec).cloneSet, "StatefulSet": (*spec).statefulSet}
	for _, s := range []struct {
		kind            string
		replicas, ready int32
		wrong           []invariants.Invariant
	}{
		{"CloneSet", 2, 1, nil},
		{"CloneSet", 2, 2, breaks(invariants.Status)},
		{"CloneSet", 3, 1, breaks(invariants.Status)},
		{"StatefulSet", 2, 1, breaks(invariants.Status)},
	} {
		j, kind, p0 := NewJudge(), kinds[s.kind], pod("web-0")
		before := counted(kind, 1, 1, 0, 0, "web:1")
		j.See([]Change{{New: base().revision(t)}, {New: before}}, false)
		j.See([]Change{{New: p0}}, false)
		j.See([]Change{{Old: p0}}, false)
		j.See([]Change{{New: pod("web-1", out)}}, false)
		var wrong []invariants.Invariant
		for _, v := range j.See([]Change{{Old: before, New: counted(kind, 1, 1, s.replicas, s.ready, "web:1")}}, false) {
			wrong = breaks(v.Invariant)
		}
		if diff := cmp.Diff(s.wrong, wrong); diff != "" {
			t.Errorf("%s, %d pods, %d ready: violated (-want +got):\n%s", s.kind, s.replicas, s.ready, diff)
		}
	}
}

// TestCurrentRevisionsAreJudged makes sure that the current revision moves when the update is complete, and not before.
func TestCurrentRevisionsAreJudged(t *testing.T) {
	for name, kind := range map[string]func(*spec, metav1.ObjectMeta) metav1.Object{"CloneSet": (*spec).cloneSet, "StatefulSet": (*spec).statefulSet} {
		for _, move := range []struct {
			name    string
			updated int32 // of three
			wrong   []invariants.Invariant
		}{
			{"the update is complete", 3, nil},
			{"the update goes on", 2, breaks(invariants.Status)},
		} {
			of := base()
			of.image = "web:2"
			version := func(is string, updated, atIt int32) metav1.Object {
				object := current(kind(of, metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1}), is)
				switch set := object.(type) {
				case *v1alpha1.CloneSet:
					s := &set.Status
					s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.ExpectedUpdatedReplicas = 1, 3, 3, 3, 3
					s.UpdateRevision, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas, s.LabelSelector = "web-2", updated, updated, updated, "app=web"
				case *v1beta1.StatefulSet:
					s := &set.Status
					s.ObservedGeneration, s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.CurrentReplicas = 1, 3, 3, 3, atIt
					s.UpdateRevision, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.UpdatedAvailableReplicas, s.LabelSelector = "web-2", updated, updated, updated, "app=web"
				}
				return waiting(object, updated == 3)
			}
			j, old := NewJudge(), version("web-1", 0, 3)
			j.See([]Change{{New: base().revision(t)}, {New: of.revision(t)}, {New: old}}, false)
			for i, name := range []string{"web-2", "web-1", "web-0"} {
				image := "web:1"
				if int32(i) < move.updated {
					image = "web:2"
				}
				j.See([]Change{{New: pod(name, at(image))}}, true)
			}
			j.Settled()
			var wrong []invariants.Invariant
			for _, v := range j.See([]Change{{Old: old, New: version("web-2", move.updated, move.updated)}}, false) {
				t.Logf("%s: %s: %v", name, move.name, v)
				wrong = append(wrong, v.Invariant)
			}
			if diff := cmp.Diff(move.wrong, wrong); diff != "" {
				t.Errorf("%s: %s: violated (-want +got):\n%s", name, move.name, diff)
			}
		}
	}
}

// TestSettledIsJudged makes sure that what is settled is as it should be.
func TestSettledIsJudged(t *testing.T) {
	p0, p1, p2 := pod("web-0", mounting("data-web-0")), pod("web-1", mounting("data-web-1")), pod("web-2", mounting("data-web-2"))
	for name, kind := range map[string]func(*spec, metav1.ObjectMeta) metav1.Object{"CloneSet": (*spec).cloneSet, "StatefulSet": (*spec).statefulSet} {
		owned := func(*corev1.PersistentVolumeClaim) {}
		if name == "StatefulSet" { // they stay
			owned = ofNobody
		}
		for _, rest := range []struct {
			name   string
			status metav1.Object
			pods   []metav1.Object
			wrong  []invariants.Invariant
		}{
			{"it is settled", counted(kind, 1, 1, 3, 3, "web:1"), objects(p0, p1, p2), nil},
			{"a pod is missing", counted(kind, 1, 1, 2, 2, "web:1"), objects(p0, p1), breaks(invariants.Settled)},
			{"a pod does not serve", counted(kind, 1, 1, 3, 2, "web:1"), objects(p0, p1, pod("web-2", out, mounting("data-web-2"))), breaks(invariants.Settled)},
			{"the status is late", counted(kind, 2, 1, 3, 3, "web:1"), objects(p0, p1, p2), breaks(invariants.Status)},
			{"the status counts too many", counted(kind, 1, 1, 3, 3, "web:1"), objects(p0, p1), breaks(invariants.Settled, invariants.Status)},
		} {
			j := NewJudge()
			j.See([]Change{{New: base().revision(t)}, {New: rest.status}}, true)
			for _, object := range append(rest.pods, claim("data-web-0", owned), claim("data-web-1", owned), claim("data-web-2", owned)) {
				j.See([]Change{{New: object}}, true)
			}
			var wrong []invariants.Invariant
			for _, violation := range j.Settled() {
				t.Logf("%s: %s: %v", name, rest.name, violation)
				wrong = append(wrong, violation.Invariant)
			}
			slices.Sort(wrong)
			if diff := cmp.Diff(rest.wrong, slices.Compact(wrong)); diff != "" {
				t.Errorf("%s: %s: violated (-want +got):\n%s", name, rest.name, diff)
			}
		}
	}
}
