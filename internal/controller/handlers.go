package controller

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// Enqueue asks for a pass over a workload.
type Enqueue func(workload types.NamespacedName)

// OfWorkloads asks for a pass when a workload changes, but not when all that
// changed is the status that the controller itself wrote: wroteStatus tells
// that of a version, status gives the status of a workload.
func OfWorkloads[T metav1.Object](
	enqueue Enqueue, status func(T) any, wroteStatus func(key types.NamespacedName, resourceVersion string, status any) bool,
) cache.ResourceEventHandler {
	add := func(obj any) {
		if workload, ok := last(obj).(T); ok {
			enqueue(keyOf(workload))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: add,
		UpdateFunc: func(before, after any) {
			b, a := before.(T), after.(T)
			overwritten := func() bool {
				return !equality.Semantic.DeepEqual(status(b), status(a)) && !wroteStatus(keyOf(a), a.GetResourceVersion(), status(a))
			}
			if WorkloadChanged(b, a) || overwritten() {
				add(a)
			}
		},
		DeleteFunc: add,
	}
}

// OfOwned asks for a pass over the workloads to which an object belongs, when
// its owners change, or it changes in a way that matters. of names the
// workloads; see Owners.
func OfOwned[T metav1.Object](
	enqueue Enqueue, of func(metav1.Object) []types.NamespacedName, matters func(before, after T) bool,
) cache.ResourceEventHandler {
	add := func(obj any) {
		if object, ok := last(obj).(T); ok {
			for _, workload := range of(object) {
				enqueue(workload)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: add,
		UpdateFunc: func(before, after any) {
			b, a := before.(T), after.(T)
			if !slices.EqualFunc(b.GetOwnerReferences(), a.GetOwnerReferences(), sameOwner) {
				add(b)
				add(a)
			} else if matters(b, a) {
				add(a)
			}
		},
		DeleteFunc: add,
	}
}

// Owners returns the function that names the owners of an object that are of a
// kind, in any version.
func Owners(kind schema.GroupKind) func(metav1.Object) []types.NamespacedName {
	return func(object metav1.Object) (owners []types.NamespacedName) {
		for _, owner := range object.GetOwnerReferences() {
			if owner.Kind == kind.Kind && groupOf(owner.APIVersion) == kind.Group {
				owners = append(owners, types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name})
			}
		}
		return owners
	}
}

func groupOf(apiVersion string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group
}

// sameOwner tells whether planners take both for the same: whom they name, and
// whether that one has control.
func sameOwner(a, b metav1.OwnerReference) bool {
	return a.UID == b.UID && a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name &&
		ptr.Deref(a.Controller, false) == ptr.Deref(b.Controller, false)
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// last returns the object of an event, also where its deletion was missed.
func last(obj any) any {
	if missed, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return missed.Obj
	}
	return obj
}
