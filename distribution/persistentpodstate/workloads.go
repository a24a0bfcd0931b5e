// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/workload"
)

// CustomKind is a kind of the white list, whose pods have names and ordinals as those of a StatefulSet. (PPS-2)
type CustomKind struct {
	// Kind is the kind, Resource the plural name by which the API server serves it. Both are required.
	Kind     schema.GroupVersionKind
	Resource string
	// Informer is one of its objects, as *unstructured.Unstructured, which the caller shares and runs. Default nil: the
	// controller makes and runs its own, of Options.Dynamic.
	Informer cache.SharedIndexInformer
}

// The kinds of workloads that are known by themselves.
var (
	statefulSets         = workload.KindOf(workload.StatefulSets).GroupVersionKind
	advancedStatefulSets = workload.KindOf(workload.AdvancedStatefulSets).GroupVersionKind
)

// workloadOf reads what has to be known of an object of a cache. Its kind stands in the white list, or is known by itself.
func workloadOf(object any) *podstate.Workload {
	if custom, is := object.(*unstructured.Unstructured); is {
		return customOf(custom)
	}
	w := workload.Of(object)
	if w == nil {
		return nil
	}
	w.Replicas = ptr.To(ptr.Deref(w.Replicas, 1))
	return newWorkload(w)
}

// customOf reads a workload of a kind of the white list, as a StatefulSet is read. What is missing, or is of another type,
// is not known. (PPS-2)
func customOf(w *unstructured.Unstructured) *podstate.Workload {
	custom := newWorkload(workload.As(w.GroupVersionKind(), w))
	if n, found, err := unstructured.NestedInt64(w.Object, "spec", "replicas"); found && err == nil {
		custom.Replicas = ptr.To(int32(n))
	}
	if n, found, err := unstructured.NestedInt64(w.Object, "spec", "ordinals", "start"); found && err == nil {
		custom.Start = int(n)
	}
	list, _, _ := unstructured.NestedFieldNoCopy(w.Object, "spec", "reserveOrdinals")
	entries, _ := list.([]any)
	for _, entry := range entries {
		switch value := entry.(type) {
		case int64:
			if value >= 0 && value <= math.MaxInt32 {
				custom.Reserved = append(custom.Reserved, intstr.FromInt32(int32(value)))
			}
		case string:
			custom.Reserved = append(custom.Reserved, intstr.FromString(value))
		}
	}
	return custom
}

func newWorkload(w *workload.Workload) *podstate.Workload {
	return &podstate.Workload{
		GroupVersionKind: w.GroupVersionKind, Namespace: w.Namespace, Name: w.Name, UID: w.UID, Annotations: w.Annotations,
		Replicas: w.Replicas, Start: int(w.Start), Reserved: w.Reserved, Deleting: w.Deleting,
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
