// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// The kinds of workloads that are known by themselves.
var (
	statefulSets         = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
	advancedStatefulSets = workloadsv1beta1.SchemeGroupVersion.WithKind("StatefulSet")
)

// workloadOf reads what has to be known of an object of a cache; nil for what is no workload of numbered pods.
func workloadOf(object any) *podstate.Workload {
	switch w := object.(type) {
	case *appsv1.StatefulSet:
		workload := newWorkload(statefulSets, w, ptr.To(ptr.Deref(w.Spec.Replicas, 1)))
		if w.Spec.Ordinals != nil {
			workload.Start = int(w.Spec.Ordinals.Start)
		}
		return workload
	case *workloadsv1beta1.StatefulSet:
		workload := newWorkload(advancedStatefulSets, w, ptr.To(ptr.Deref(w.Spec.Replicas, 1)))
		workload.Reserved = w.Spec.ReserveOrdinals
		return workload
	case *unstructured.Unstructured:
		return customOf(w)
	}
	return nil
}

// customOf reads a workload of a kind of the white list, as a StatefulSet is read. What is missing, or is of another type,
// is not known. (PPS-2)
func customOf(w *unstructured.Unstructured) *podstate.Workload {
	workload := newWorkload(w.GroupVersionKind(), w, nil)
	if n, found, err := unstructured.NestedInt64(w.Object, "spec", "replicas"); found && err == nil {
		workload.Replicas = ptr.To(int32(n))
	}
	if n, found, err := unstructured.NestedInt64(w.Object, "spec", "ordinals", "start"); found && err == nil {
		workload.Start = int(n)
	}
	list, _, _ := unstructured.NestedFieldNoCopy(w.Object, "spec", "reserveOrdinals")
	ordinals, _ := list.([]any)
	for _, ordinal := range ordinals {
		if n, ok := ordinal.(int64); ok {
			workload.Reserved = append(workload.Reserved, int(n))
		}
	}
	return workload
}

func newWorkload(kind schema.GroupVersionKind, object metav1.Object, replicas *int32) *podstate.Workload {
	return &podstate.Workload{
		GroupVersionKind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
		Annotations: object.GetAnnotations(), Replicas: replicas, Deleting: object.GetDeletionTimestamp() != nil,
	}
}

// asks tells whether a workload asks for a PersistentPodState. (PPS-21)
func asks(w *podstate.Workload) bool {
	return w.Annotations[v1alpha1.AutoGeneratePersistentPodStateAnnotation] == "true"
}

// sameWorkload tells whether a workload means the same before and after an event.
func sameWorkload(b, a *podstate.Workload) bool {
	if b == nil || a == nil {
		return b == a
	}
	for _, key := range caches.PersistentPodState {
		if b.Annotations[key] != a.Annotations[key] {
			return false
		}
	}
	return b.UID == a.UID && b.Deleting == a.Deleting && ptr.Equal(b.Replicas, a.Replicas) && b.Start == a.Start && slices.Equal(b.Reserved, a.Reserved)
}
