// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

type setEdit func(*v1beta1.StatefulSetSpec)

func statefulSet(replicas int32, edits ...setEdit) *v1beta1.StatefulSet {
	set := &v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	set.Spec = v1beta1.StatefulSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: testTemplate,
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
		UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{
			PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType}},
	}
	set.Status.CurrentRevision = "web-a"
	for _, edit := range edits {
		edit(&set.Spec)
	}
	return set
}

func parallel(s *v1beta1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement }

func rolling(edit func(*v1beta1.RollingUpdateStatefulSetStrategy)) setEdit {
	return func(s *v1beta1.StatefulSetSpec) { edit(s.UpdateStrategy.RollingUpdate) }
}

func TestStatefulSet(t *testing.T) {
	paused := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Paused = true })
	partition := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Partition = ptr.To(int32(2)) })
	unordered := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) {
		r.UnorderedUpdate = &v1beta1.UnorderedUpdateStrategy{}
	})
	minReady := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.MinReadySeconds = ptr.To(int32(90)) })
	onDelete := func(s *v1beta1.StatefulSetSpec) {
		s.UpdateStrategy = v1beta1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	}
	reserved := func(s *v1beta1.StatefulSetSpec) { s.ReserveOrdinals = []int{1} }
	slowly := func(s *v1beta1.StatefulSetSpec) {
		s.ScaleStrategy = &v1beta1.StatefulSetScaleStrategy{MaxUnavailable: ptr.To(intstr.FromInt32(1))}
	}
	p0, p1, p2, p3 := testPod("web-0", "a"), testPod("web-1", "a"), testPod("web-2", "a"), testPod("web-3", "a")
	n2 := testPod("web-2", "b")
	aside := func(state string) podEdit { return labelled(lifecyclev1alpha1.StateLabel, state) }
	mounts := func(claim string) podEdit {
		return func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}}
		}
	}
	for _, tt := range []struct {
		name          string
		set           *v1beta1.StatefulSet
		known         []*corev1.Pod
		verb          string
		before, after *corev1.Pod
		want          []Invariant
	}{
		{"STS-1: a wanted ordinal", statefulSet(3), pods(p0, p1), "create", nil, n2, nil},
		{"STS-1: one that is not", statefulSet(2), pods(p0, p1), "create", nil, n2, []Invariant{Identity}},
		{"STS-1: a reserved one", statefulSet(2, reserved), pods(p0), "create", nil, testPod("web-1", "b"), []Invariant{Identity}},
		{"identity: the claim of another pod", statefulSet(3), pods(p0, p1), "create", nil, at(n2, mounts("data-web-0")), []Invariant{Identity}},
		{"identity: the label of another pod", statefulSet(3), pods(p0, p1), "create", nil, at(n2, labelled(appsv1.StatefulSetPodNameLabel, "web-1")), []Invariant{Identity}},
		{"STS-3: held back by the partition", statefulSet(2, partition), pods(p0), "create", nil, p1, nil},
		{"STS-3: not held back", statefulSet(2, partition), pods(p0), "create", nil, testPod("web-1", "b"), []Invariant{Partition}},
		{"STS-5: a claim that goes with a former pod", statefulSet(3), pods(p0, p1), "create", nil, at(n2, mounts("data-web-2")), []Invariant{Claims}},
		{"STS-8: OrderedReady, a lower one is missing", statefulSet(3), pods(p0), "create", nil, n2, []Invariant{Order}},
		{"STS-8: OrderedReady, a lower one is ready for too short", statefulSet(3, minReady), pods(p0, p1), "create", nil, n2, []Invariant{Order}},
		{"STS-8: Parallel", statefulSet(3, parallel), pods(p0), "create", nil, n2, nil},
		{"STS-9: too many that come up", statefulSet(3, parallel, slowly), pods(p0), "create", nil, n2, []Invariant{ScaleRate}},
		{"STS-11: the highest goes first", statefulSet(1), pods(p0, p1, p2), "delete", p2, at(p2, going), nil},
		{"STS-11: OrderedReady, not a lower one", statefulSet(1), pods(p0, p1, p2), "delete", p1, at(p1, going), []Invariant{Order}},
		{"STS-11: OrderedReady, not before the higher one is gone", statefulSet(1), pods(p0, p1, at(p2, going)), "delete", p1, at(p1, going), []Invariant{Order}},
		{"STS-12: Parallel, any", statefulSet(1, parallel), pods(p0, p1, p2), "delete", p1, at(p1, going), nil},
		{"STS-4: a failed pod goes", statefulSet(3), pods(p0, p1, at(p2, failed)), "delete", at(p2, failed), nil, nil},
		{"STS-18: the highest is updated first", statefulSet(3, parallel), pods(p0, p1, p2), "delete", p2, at(p2, going), nil},
		{"STS-18: not the next while it does not serve", statefulSet(3, parallel), pods(p0, p1, at(n2, notReady)), "delete", p1, at(p1, going), []Invariant{Availability}},
		{"STS-18: the next when it serves", statefulSet(3, parallel), pods(p0, p1, n2), "delete", p1, at(p1, going), nil},
		{"STS-18: a lower one is down", statefulSet(3, parallel), pods(at(p0, notReady), p1, p2), "delete", p2, at(p2, going), []Invariant{Availability}},
		{"STS-18: that one itself", statefulSet(3, parallel), pods(at(p0, notReady), p1, p2), "delete", at(p0, notReady), at(p0, going), nil},
		{"STS-18: one that the partition holds back is down", statefulSet(4, parallel, partition), pods(at(p0, notReady), p1, p2, p3), "delete", p3, at(p3, going), []Invariant{Availability}},
		{"STS-18: one is missing", statefulSet(3, parallel), pods(p1, p2), "delete", p2, at(p2, going), []Invariant{Availability}},
		{"STS-18: a lower one is prepared for its deletion", statefulSet(3), pods(at(p0, aside("PreparingDelete")), p1, p2), "delete", p2, at(p2, going), []Invariant{Availability}},
		{"STS-18: a lower one is Updating", statefulSet(3), pods(at(p0, aside("Updating")), p1, p2), "delete", p2, at(p2, going), []Invariant{Availability}},
		{"STS-18: unordered, one that stays is down", statefulSet(4, parallel, unordered, partition), pods(at(p0, notReady), p1, p2, p3), "delete", p2, at(p2, going), []Invariant{Availability}},
		{"STS-18: a pod that is updated already", statefulSet(3, parallel), pods(p0, p1, n2), "delete", n2, at(n2, going), []Invariant{Needless}},
		{"STS-17: the partition", statefulSet(3, parallel, partition), pods(p0, p1, n2), "delete", p1, at(p1, going), []Invariant{Partition}},
		{"STS-17: unordered, any", statefulSet(3, parallel, unordered), pods(p0, p1, p2), "delete", p0, at(p0, going), nil},
		{"STS-17: unordered, as many as the partition leaves", statefulSet(3, parallel, unordered, partition), pods(p0, p1, n2), "delete", p0, at(p0, going), []Invariant{Partition}},
		{"STS-18: unordered, within maxUnavailable", statefulSet(3, parallel, unordered), pods(p0, p1, at(n2, notReady)), "delete", p0, at(p0, going), []Invariant{Availability}},
		{"STS-14: paused", statefulSet(3, paused), pods(p0, p1, p2), "delete", p2, at(p2, going), []Invariant{Paused}},
		{"STS-22: OnDelete", statefulSet(3, onDelete), pods(p0, p1, p2), "delete", p2, at(p2, going), []Invariant{Needless}},
		{"STS-E11: OrderedReady, no update while one is not available", statefulSet(3), pods(at(p0, notReady), p1, p2), "delete", p2, at(p2, going), []Invariant{Order}},
		{"STS-21: taken aside out of turn", statefulSet(4, parallel), pods(p0, p1, p2, p3), "patch", p1,
			at(p1, labelled(lifecyclev1alpha1.StateLabel, "PreparingUpdate")), []Invariant{Availability}},
		{"adoption: a pod of nobody", statefulSet(3), pods(p0, p1, p2), "patch", at(p2, disowned), p2, nil},
		{"adoption: a pod of somebody else", statefulSet(3), pods(p0, p1), "patch", at(p2, owner("other")), p2, []Invariant{Ownership}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := testState(tt.set, tt.known...)
			known.Claims["data-web-2"] = &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
				Name: "data-web-2", OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: "web-2", UID: "former"}}}}
			w := &Write{Verb: tt.verb, Resource: "pods", Truth: known, Known: known, Observed: known}
			if tt.before != nil {
				w.Before = tt.before
			}
			if tt.after != nil {
				w.After = tt.after
			}
			if tt.verb == "create" {
				w.After = at(tt.after, inNormal)
			}
			violations := StatefulSet(w)
			if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", violations, diff)
			}
		})
	}
}

// inNormal is the state in which a pod is created that waits for no hook. (STS-5)
func inNormal(p *corev1.Pod) { labelled(lifecyclev1alpha1.StateLabel, "Normal")(p) }

func owner(uid string) podEdit {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Set", Name: uid, UID: types.UID("uid-" + uid), Controller: ptr.To(true)}}
	}
}

func TestClaimsOfStatefulSet(t *testing.T) {
	policy := func(whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) setEdit {
		return func(s *v1beta1.StatefulSetSpec) {
			s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: whenDeleted, WhenScaled: whenScaled}
		}
	}
	claim := func(owners ...metav1.OwnerReference) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-2", OwnerReferences: owners}}
	}
	bySet := metav1.OwnerReference{Kind: "StatefulSet", Name: "web", UID: "set"}
	byPod := metav1.OwnerReference{Kind: "Pod", Name: "web-2", UID: "uid-web-2"}
	for _, tt := range []struct {
		name          string
		set           *v1beta1.StatefulSet
		verb          string
		before, after Object
		want          []Invariant
	}{
		{"no claim is deleted", statefulSet(2, policy("Delete", "Delete")), "delete", claim(), nil, []Invariant{Claims}},
		{"STS-23: Retain", statefulSet(2), "patch", claim(), claim(bySet), []Invariant{Claims}},
		{"STS-23: whenDeleted", statefulSet(3, policy("Delete", "Retain")), "patch", claim(), claim(bySet), nil},
		{"STS-23: whenScaled", statefulSet(2, policy("Retain", "Delete")), "patch", claim(), claim(byPod), nil},
		{"STS-23: whenScaled, the pod stays", statefulSet(3, policy("Retain", "Delete")), "patch", claim(), claim(byPod), []Invariant{Claims}},
		{"STS-23: owners go", statefulSet(3), "patch", claim(bySet, byPod), claim(), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := testState(tt.set)
			w := &Write{Verb: tt.verb, Resource: "persistentvolumeclaims", Before: tt.before, After: tt.after, Truth: known, Known: known, Observed: known}
			violations := StatefulSet(w)
			if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", violations, diff)
			}
		})
	}
}

// TestStatefulSetFirstState: a pod that is created in no state breaks a promise. (STS-5)
func TestStatefulSetFirstState(t *testing.T) {
	pod := testPod("web-2", "b")
	known := testState(statefulSet(3), testPod("web-0", "b"), testPod("web-1", "b"))
	w := &Write{Verb: "create", Resource: "pods", After: pod, Truth: known, Known: known, Observed: known}
	if got := broken(StatefulSet(w)); !cmp.Equal(got, []Invariant{Hooks}) {
		t.Errorf("violated %v", got)
	}
	w.After = at(pod, inNormal)
	if got := broken(StatefulSet(w)); len(got) > 0 {
		t.Errorf("violated %v by a pod in the state Normal", got)
	}
}
