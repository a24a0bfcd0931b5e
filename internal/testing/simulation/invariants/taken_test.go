// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var (
	app      = map[string]string{"app": "web"}
	webSet   = metav1.ObjectMeta{Name: "web", UID: "set"}
	webOwner = []metav1.OwnerReference{{Name: "web", UID: "set", Controller: new(true)}}
)

func templateOf(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
}

// servingPod is available at the revision of an image.
func servingPod(name, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), OwnerReferences: webOwner,
			Labels: map[string]string{"app": "web", "controller-revision-hash": "web-" + image},
		},
		Spec:   templateOf(image).Spec,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

// patch is a write of a pod by who knows all that there is: a workload that goes from image a to b.
func patch(t *testing.T, workload invariants.Object, before, after *corev1.Pod, others ...*corev1.Pod) *invariants.Write {
	t.Helper()
	state := &invariants.State{Workload: workload, Pods: map[string]*corev1.Pod{before.Name: before}, Revisions: map[string]*appsv1.ControllerRevision{}}
	for _, pod := range others {
		state.Pods[pod.Name] = pod
	}
	for _, image := range []string{"a", "b"} {
		raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": templateOf(image)}})
		if err != nil {
			t.Fatal(err)
		}
		r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-" + image, OwnerReferences: webOwner}, Data: runtime.RawExtension{Raw: raw}}
		state.Revisions[r.Name] = r
	}
	return &invariants.Write{Verb: "patch", Resource: "pods", Before: before, After: after, Truth: state, Known: state, Observed: state}
}

func broken(all []invariants.Violation) (names []invariants.Invariant) {
	for _, v := range all {
		names = append(names, v.Invariant)
	}
	return names
}

// TestStatefulSetTakesAside makes sure that a pod that is taken out of service before it is updated is judged as if it were updated.
func TestStatefulSetTakesAside(t *testing.T) {
	a0, a1, b1 := servingPod("web-0", "a"), servingPod("web-1", "a"), servingPod("web-1", "b")
	for _, tt := range []struct {
		name          string
		paused        bool
		before, other *corev1.Pod
		want          []invariants.Invariant
	}{
		{"STS-18: the highest pod", false, a1, a0, nil},
		{"STS-18: the next one, when the highest serves", false, a0, b1, nil},
		{"STS-18: the lowest pod first", false, a0, a1, []invariants.Invariant{invariants.Availability}},
		{"STS-E12: a pod while paused", true, a1, a0, []invariants.Invariant{invariants.Paused}},
		{"STS-18: a pod that was updated", false, b1, a0, []invariants.Invariant{invariants.Needless}},
	} {
		set := &v1beta1.StatefulSet{ObjectMeta: webSet, Spec: v1beta1.StatefulSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: app}, Template: templateOf("b"),
			PodManagementPolicy: appsv1.ParallelPodManagement,
			UpdateStrategy: v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{
				PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType, Paused: tt.paused,
			}},
		}}
		after := tt.before.DeepCopy()
		after.Status.Conditions = append(after.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
		if diff := cmp.Diff(tt.want, broken(invariants.StatefulSet(patch(t, set, tt.before, after, tt.other)))); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestCloneSetTakesByImage makes sure that a pod with a new image counts as taken out of service, whatever its conditions say.
func TestCloneSetTakesByImage(t *testing.T) {
	for _, tt := range []struct {
		name        string
		unavailable int
		want        []invariants.Invariant
	}{
		{"CS-31: within maxUnavailable", 1, nil},
		{"CS-31: beyond maxUnavailable", 0, []invariants.Invariant{invariants.Availability}},
	} {
		set := &v1alpha1.CloneSet{ObjectMeta: webSet, Spec: v1alpha1.CloneSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: app}, Template: templateOf("b"),
			UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
				Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: new(intstr.FromInt(tt.unavailable)), MaxSurge: new(intstr.FromInt(1)),
			},
		}}
		before, after := servingPod("web-x", "a"), servingPod("web-x", "b")
		if diff := cmp.Diff(tt.want, broken(invariants.CloneSet(patch(t, set, before, after, servingPod("web-y", "a")), invariants.CloneSetFeatures{}))); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", tt.name, diff)
		}
	}
}
