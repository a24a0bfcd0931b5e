// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestStatefulSetPast judges by what has happened: pods of revision a that worked, and
// an update to b that is not complete.
func TestStatefulSetPast(t *testing.T) {
	partition := func(n int32) setEdit {
		return rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Partition = ptr.To(n) })
	}
	unordered := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) {
		r.UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{}
	})
	paused := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Paused = true })
	minReady := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.MinReadySeconds = ptr.To(int32(90)) })
	held := labelled(lifecyclev1alpha1.StateLabel, string(lifecyclev1alpha1.StatePreparingDelete))
	drained := at(testPod("web-1", "a"), labelled(lifecyclev1alpha1.StateLabel, string(lifecyclev1alpha1.StatePreparingUpdate)))
	prepared := at(drained, notReady)
	p0, p1, p2 := testPod("web-0", "a"), testPod("web-1", "a"), testPod("web-2", "a")
	n0, n2 := testPod("web-0", "b"), testPod("web-2", "b")
	for _, tt := range []struct {
		name          string
		set           *v1beta1.StatefulSet
		known         []*corev1.Pod
		before, after *corev1.Pod // without after it is deleted
		want          []Invariant
	}{
		{"STS-3: unordered, so many are held back", statefulSet(3, parallel, unordered, partition(3)), nil, nil, p0, nil},
		{"STS-3: unordered, none may come at the update revision", statefulSet(3, parallel, unordered, partition(3)), nil, nil, n0, []Invariant{Partition}},
		{"STS-3: unordered, enough are held back", statefulSet(3, parallel, unordered, partition(2)), pods(p0, p1), nil, p2, []Invariant{Partition}},
		{"outage: within maxUnavailable", statefulSet(3, parallel), pods(p0, p1, at(p2, notReady)), at(p2, notReady), nil, nil},
		{"outage: to where nothing works", statefulSet(3, parallel), pods(p0, at(p1, notReady), at(n2, notReady)), at(p1, notReady), nil, []Invariant{Contained}},
		{"outage: one that was prepared before", statefulSet(3, parallel), pods(p0, prepared, at(n2, notReady)), prepared, nil, nil},
		{"LC-22: one that was prepared is out of service, though it is ready", statefulSet(3), pods(n0, drained, at(n2, notReady)), drained, nil, nil},
		{"LC-22: one that was not", statefulSet(3, parallel), pods(n0, p1, at(n2, notReady)), p1, nil, []Invariant{Availability}},
		{"outage: to where it works", statefulSet(3, parallel), pods(at(p0, notReady), at(p1, notReady), n2), at(p1, notReady), nil, nil},
		{"STS-11: one that is not available, the lowest", statefulSet(1), pods(p0, at(p1, notReady)), at(p1, notReady), nil, nil},
		{"STS-11: one that is not available, and neither is a lower one", statefulSet(1), pods(p0, at(p1, notReady), at(p2, notReady)), at(p2, notReady), nil, []Invariant{Order}},
		{"STS-11: one that is not available, and a lower one is ready for too short", statefulSet(0, minReady), pods(p0, at(p1, notReady)), at(p1, notReady), nil, nil},
		{"STS-11: one that is ready for too short", statefulSet(0, minReady), pods(p0, p1), p1, nil, []Invariant{Order}},
		{"STS-11: one that has ended, and a lower one is not ready", statefulSet(1), pods(p0, at(p1, notReady), at(p2, failed)), at(p2, failed), nil, []Invariant{Order}},
		{"STS-11: one that has ended, as the lower ones have", statefulSet(1), pods(p0, at(p1, failed), at(p2, failed)), at(p2, failed), nil, nil},
		{"STS-11: one that is not available, and a lower one has ended", statefulSet(1), pods(p0, at(p1, failed), at(p2, notReady)), at(p2, notReady), nil, []Invariant{Order}},
		{"STS-8: none is scaled in before the wanted are available", statefulSet(1), pods(at(p0, notReady), at(p1, notReady)), at(p1, notReady), nil, []Invariant{Order}},
		{"STS-8: OrderedReady, one that ended is replaced in its turn", statefulSet(3), pods(at(p0, notReady), at(p1, failed)), at(p1, failed), nil, []Invariant{Order}},
		{"a hook released it: in its turn", statefulSet(3), pods(n0, testPod("web-1", "b"), at(n2, held)), at(n2, held), nil, nil},
		{"a hook released it: OrderedReady", statefulSet(3), pods(at(n0, notReady), testPod("web-1", "b"), at(n2, held)), at(n2, held), nil, []Invariant{Availability, Order}},
		{"a hook released it: paused", statefulSet(3, parallel, paused), pods(n0, testPod("web-1", "b"), at(n2, held)), at(n2, held), nil, []Invariant{Paused}},
		{"a hook released it: within maxUnavailable", statefulSet(3, parallel), pods(n0, at(testPod("web-1", "b"), held), at(n2, notReady)), at(testPod("web-1", "b"), held), nil, []Invariant{Availability}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			past := NewPast()
			past.becomesCurrent(tt.set.UID, "a")
			for _, pod := range tt.known {
				past.Observe(&Change{After: pod})
			}
			known := testState(tt.set, tt.known...)
			w := &Write{Verb: "delete", Resource: "pods", Truth: known, Known: known, Observed: known}
			if tt.before != nil {
				w.Before = tt.before
			}
			if tt.after != nil {
				w.Verb, w.After = "create", at(tt.after, inNormal)
			}
			violations := past.StatefulSet(w)
			if tt.after == nil { // that it is gone at once is another matter
				w.After = at(tt.before, going)
				violations = past.StatefulSet(w)
			}
			if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", violations, diff)
			}
		})
	}
	t.Run("STS-3: the current revision, to which no update was completed", func(t *testing.T) {
		known := testState(statefulSet(3, partition(2)), p0)
		w := &Write{Verb: "create", Resource: "pods", After: at(p1, inNormal), Truth: known, Known: known, Observed: known}
		if got := broken(NewPast().StatefulSet(w)); !cmp.Equal(got, []Invariant{Partition}) {
			t.Errorf("violated %v", got)
		}
	})
}

// TestCurrentRevision judges when the current revision moves from a to b.
func TestCurrentRevision(t *testing.T) {
	back := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Partition = ptr.To(int32(1)) })
	minReady := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.MinReadySeconds = ptr.To(int32(90)) })
	n0, n1, p1 := testPod("web-0", "b"), testPod("web-1", "b"), testPod("web-1", "a")
	for _, tt := range []struct {
		name    string
		set     *v1beta1.StatefulSet
		pods    []*corev1.Pod
		current string
		want    []Invariant
	}{
		{"all wanted pods are updated", statefulSet(2, back), pods(n0, n1), "web-b", nil},
		{"it moves no later", statefulSet(2, back), pods(n0, n1), "web-a", []Invariant{Status}},
		{"one is not updated", statefulSet(2, back), pods(n0, p1), "web-b", []Invariant{Status}},
		{"one is not ready", statefulSet(2, back), pods(n0, at(n1, notReady)), "web-b", []Invariant{Status}},
		{"a held-back one is missing", statefulSet(2, back), pods(n1), "web-b", []Invariant{Status}},
		{"it stays, since a held-back one is missing", statefulSet(2, back), pods(n1), "web-a", nil},
		{"one is missing, and none is held back", statefulSet(2), pods(n1), "web-b", []Invariant{Status}},
		{"all are missing", statefulSet(1), nil, "web-b", []Invariant{Status}},
		{"none is wanted", statefulSet(0), nil, "web-b", nil},
		{"one is ready for too short", statefulSet(2, minReady), pods(n0, n1), "web-b", []Invariant{Status}},
		{"to another", statefulSet(2), pods(n1), "web-c", []Invariant{Status}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known, after := testState(tt.set, tt.pods...), tt.set.DeepCopy()
			known.Revisions["web-c"] = testRevision(3, "c")
			after.Status = v1beta1.StatefulSetStatus{CurrentRevision: tt.current, UpdateRevision: "web-b"}
			var v violations
			j := newStatefulSetJudge(&v, &Write{Truth: known, Known: known, Observed: known}, tt.set, nil)
			j.checkCurrent(&after.Status)
			if diff := cmp.Diff(tt.want, broken(v)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", v, diff)
			}
		})
	}
}

// TestRevisionsOfStatefulSet judges which revisions are deleted.
func TestRevisionsOfStatefulSet(t *testing.T) {
	limit := func(n int32) setEdit { return func(s *v1beta1.StatefulSetSpec) { s.RevisionHistoryLimit = &n } }
	seen := &Preconditions{UID: "uid", ResourceVersion: "1"}
	for _, tt := range []struct {
		name     string
		set      *v1beta1.StatefulSet
		pods     []*corev1.Pod
		revision string
		asked    *Preconditions
		want     []Invariant
	}{
		{"CS-CR7: one that nothing is made of", statefulSet(1, limit(0)), nil, "c", seen, nil},
		{"CS-CR7: within the limit", statefulSet(1, limit(1)), nil, "c", seen, []Invariant{History}},
		{"CS-CR7: that of the template", statefulSet(1, limit(0)), nil, "b", seen, []Invariant{History}},
		{"CS-CR7: the current one", statefulSet(1, limit(0)), nil, "a", seen, []Invariant{History}},
		{"CS-CR7: that of a pod on its way out", statefulSet(1, limit(0)), pods(at(testPod("web-3", "c"), going)), "c", seen, []Invariant{History}},
		{"it may have changed", statefulSet(1, limit(0)), nil, "c", &Preconditions{UID: "uid"}, []Invariant{History}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := testState(tt.set, tt.pods...)
			known.Revisions["web-c"] = testRevision(3, "c")
			for _, r := range known.Revisions {
				r.OwnerReferences = testPod("web-0", "a").OwnerReferences
			}
			w := &Write{Verb: "delete", Resource: "controllerrevisions", Before: known.Revisions["web-"+tt.revision], Asked: tt.asked, Truth: known, Known: known, Observed: known}
			violations := StatefulSet(w)
			if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", violations, diff)
			}
		})
	}
}

// TestSettledClaims judges the owners of claims when settled.
func TestSettledClaims(t *testing.T) {
	policy := func(whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) setEdit {
		return func(s *v1beta1.StatefulSetSpec) {
			s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: whenDeleted, WhenScaled: whenScaled}
			s.VolumeClaimTemplates = nil // that of the claim was removed
		}
	}
	bySet := metav1.OwnerReference{Kind: "StatefulSet", Name: "web", UID: "set"}
	byPod := metav1.OwnerReference{Kind: "Pod", Name: "web-1", UID: "uid-web-1"}
	for _, tt := range []struct {
		name   string
		set    *v1beta1.StatefulSet
		owners []metav1.OwnerReference
		want   []Invariant
	}{
		{"STS-23: Retain", statefulSet(2, policy("Retain", "Retain")), nil, nil},
		{"STS-23: Retain, and it goes with the set", statefulSet(2, policy("Retain", "Retain")), []metav1.OwnerReference{bySet}, []Invariant{Claims}},
		{"STS-23: whenDeleted", statefulSet(2, policy("Delete", "Retain")), []metav1.OwnerReference{bySet}, nil},
		{"STS-23: whenDeleted, and it stays", statefulSet(2, policy("Delete", "Retain")), nil, []Invariant{Claims}},
		{"STS-23: whenScaled, and the pod stays", statefulSet(2, policy("Retain", "Delete")), []metav1.OwnerReference{byPod}, []Invariant{Claims}},
		{"STS-23: whenScaled", statefulSet(1, policy("Retain", "Delete")), []metav1.OwnerReference{byPod}, nil},
		{"STS-23: whenScaled, and it stays", statefulSet(1, policy("Retain", "Delete")), nil, []Invariant{Claims}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			past := NewPast()
			past.Observe(&Change{After: statefulSet(2)})
			pod := at(testPod("web-1", "b"), func(p *corev1.Pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-web-1"}}}}
			})
			s := testState(tt.set, pod)
			s.Claims["data-web-1"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-1", OwnerReferences: tt.owners}}
			var v violations
			j := newStatefulSetJudge(&v, &Write{Truth: s, Known: s, Observed: s}, tt.set, nil)
			j.past = past
			j.checkSettledClaims(s)
			if diff := cmp.Diff(tt.want, broken(v)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", v, diff)
			}
		})
	}
}
