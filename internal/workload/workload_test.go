// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

func ownedBy(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: new(true)}
}

func TestOf(t *testing.T) {
	labels, three := map[string]string{"app": "web"}, new(int32(3))
	selector := &metav1.LabelSelector{MatchLabels: labels}
	deployment := ownedBy("apps/v1", "Deployment", "web")
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid", Annotations: map[string]string{"a": "b"}}
	known := func(version, kind string, change func(*Workload)) *Workload {
		gv, _ := schema.ParseGroupVersion(version)
		w := &Workload{GroupVersionKind: gv.WithKind(kind), Namespace: "shop", Name: "web", UID: "uid", Annotations: meta.Annotations, Replicas: three, Selector: selector}
		change(w)
		return w
	}
	same := func(*Workload) {}
	going := meta
	going.DeletionTimestamp, going.OwnerReferences = &metav1.Time{}, []metav1.OwnerReference{{Name: "other"}, deployment}
	for _, test := range []struct {
		object any
		want   *Workload
	}{
		{&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: three, Selector: selector}}, known("apps/v1", "Deployment", same)},
		{&appsv1.ReplicaSet{ObjectMeta: going, Spec: appsv1.ReplicaSetSpec{Selector: selector}}, known("apps/v1", "ReplicaSet", func(w *Workload) {
			w.Replicas, w.Deleting, w.Controller = nil, true, &deployment
		})},
		{&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: three, Selector: selector}}, known("apps/v1", "StatefulSet", same)},
		{&appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: three, Selector: selector, Ordinals: &appsv1.StatefulSetOrdinals{Start: 5}}},
			known("apps/v1", "StatefulSet", func(w *Workload) { w.Start = 5 })},
		{&corev1.ReplicationController{ObjectMeta: meta, Spec: corev1.ReplicationControllerSpec{Replicas: three, Selector: labels}}, known("v1", "ReplicationController", same)},
		{&batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Parallelism: three, Completions: new(int32(9)), Selector: selector}}, known("batch/v1", "Job", func(w *Workload) { w.MayFail = new(int32(3)) })},
		{&workloadsv1alpha1.CloneSet{ObjectMeta: meta, Spec: workloadsv1alpha1.CloneSetSpec{Replicas: three, Selector: selector}, Status: workloadsv1alpha1.CloneSetStatus{UpdateRevision: "web-2"}},
			known("apps.kruise.io/v1alpha1", "CloneSet", func(w *Workload) { w.Revision = "web-2" })},
		{&workloadsv1beta1.StatefulSet{ObjectMeta: meta, Spec: workloadsv1beta1.StatefulSetSpec{Replicas: three, Selector: selector,
			Ordinals: &appsv1.StatefulSetOrdinals{Start: 2}, ReserveOrdinalRanges: []intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("4-5"), intstr.FromString("x")}}},
			known("apps.kruise.io/v1beta1", "StatefulSet", func(w *Workload) {
				w.Start, w.Reserved = 2, []intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("4-5"), intstr.FromString("x")}
			})},
		{&corev1.Pod{}, nil},
		{nil, nil},
	} {
		if diff := cmp.Diff(test.want, Of(test.object)); diff != "" {
			t.Errorf("%T (-want +got):\n%s", test.object, diff)
		}
	}
}

// Half of what may fail of a Job may fail because of us, whatever has failed before. (WS-37)
func TestMayFail(t *testing.T) {
	for _, test := range []struct {
		name string
		spec batchv1.JobSpec
		is   batchv1.JobStatus
		want int32
	}{
		{"as the default has it", batchv1.JobSpec{}, batchv1.JobStatus{}, 3},
		{"an odd limit", batchv1.JobSpec{BackoffLimit: new(int32(5))}, batchv1.JobStatus{}, 3},
		{"some have failed", batchv1.JobSpec{}, batchv1.JobStatus{Failed: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"x"}}}, 1},
		{"more have failed", batchv1.JobSpec{}, batchv1.JobStatus{Failed: 4}, 0},
		{"none may fail", batchv1.JobSpec{BackoffLimit: new(int32(0))}, batchv1.JobStatus{}, 0},
		{"the largest limit", batchv1.JobSpec{BackoffLimit: new(int32(math.MaxInt32))}, batchv1.JobStatus{}, 1 << 30},
		{"each index has its limit", batchv1.JobSpec{BackoffLimit: new(int32(math.MaxInt32)), BackoffLimitPerIndex: new(int32(1))}, batchv1.JobStatus{}, 0},
	} {
		if got := Of(&batchv1.Job{Spec: test.spec, Status: test.is}).MayFail; *got != test.want {
			t.Errorf("%s: %d may fail, want %d", test.name, *got, test.want)
		}
	}
}

// A kind has one entry, whose caches no other has.
func TestKinds(t *testing.T) {
	resources := map[string]bool{}
	for _, k := range Kinds() {
		if found := KindOf(k.GroupKind()); found == nil || found.GroupVersionKind != k.GroupVersionKind || resources[k.resource] || k.resource == "" || Resource(k.GroupKind()) != k.resource {
			t.Errorf("%s: found %v, resource %q", k, found, k.resource)
		}
		resources[k.resource] = true
	}
	if none := (schema.GroupKind{Group: "example.com", Kind: "CloneSet"}); KindOf(none) != nil || Resource(none) != "" || len(resources) != 7 {
		t.Errorf("%d kinds, and %v of a kind that is none", len(resources), KindOf(none))
	}
}

func TestAbove(t *testing.T) {
	pod := func(ref ...metav1.OwnerReference) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: ref}}
	}
	rs, deployment := ownedBy("apps/v1", "ReplicaSet", "web-1"), ownedBy("apps/v1", "Deployment", "web")
	known := map[Named]*metav1.OwnerReference{{ReplicaSets, "web-1"}: &deployment, {Deployments, "web"}: nil, {Jobs, "round"}: new(ownedBy("batch/v1", "Job", "round"))}
	find := func(kind schema.GroupKind, name string) (types.UID, *metav1.OwnerReference, bool) {
		controller, found := known[Named{kind, name}]
		return types.UID("uid-" + name), controller, found
	}
	other := rs
	other.UID = "another"
	plain := rs
	plain.Controller = nil
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want []Named
	}{
		"nothing":                     {pod(), nil},
		"an owner that controls none": {pod(plain), nil},
		"a ReplicaSet and more":       {pod(plain, rs), []Named{{ReplicaSets, "web-1"}, {Deployments, "web"}}},
		"another one of the name":     {pod(other), []Named{{ReplicaSets, "web-1"}}},
		"one that is not known":       {pod(ownedBy("example.com/v1", "Game", "g")), []Named{{schema.GroupKind{Group: "example.com", Kind: "Game"}, "g"}}},
		"no version":                  {pod(ownedBy("a/b/c", "Game", "g")), nil},
	} {
		if diff := cmp.Diff(test.want, Above(test.pod, find)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if n := len(Above(pod(ownedBy("batch/v1", "Job", "round")), find)); n != MostOwners {
		t.Errorf("of owners in a circle there are %d", n)
	}
	if kind := ControllerKind(pod(plain, deployment)); kind != Deployments || ControllerKind(pod(plain)) != (schema.GroupKind{}) {
		t.Errorf("a %s controls the pod", kind)
	}
}
