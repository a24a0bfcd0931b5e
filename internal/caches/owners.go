// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
)

// ByOwner is the index from the UIDs of owners to their objects, and from a namespace to those without a controller.
var ByOwner = podwright.Index{Name: "podwright.ownerUID", Keys: ownerUIDs}

func ownerUIDs(obj any) ([]string, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	owners := object.GetOwnerReferences()
	uids := make([]string, len(owners), len(owners)+1)
	for i := range owners {
		uids[i] = string(owners[i].UID)
	}
	if orphaned(object) {
		uids = append(uids, orphansOf(object.GetNamespace()))
	}
	return uids, nil
}

// OwnedBy returns the objects, indexed ByOwner, that name the
// UID as an owner, whether or not it controls them. They are shared with the cache and must not
// be changed.
func OwnedBy[T any](r podwright.Reader, resource podwright.Resource, namespace string, owner types.UID) ([]T, error) {
	return byIndex[T](r, resource, namespace, ByOwner, string(owner))
}

// ControlledBy returns the objects, indexed ByOwner, that the
// UID controls. One that only names it as an owner, so that it is collected with it, is
// another controller's. They are shared with the cache and must not be changed.
func ControlledBy[T metav1.Object](r podwright.Reader, resource podwright.Resource, namespace string, owner types.UID) ([]T, error) {
	owned, err := OwnedBy[T](r, resource, namespace, owner)
	return slices.DeleteFunc(owned, func(object T) bool { return !controlledBy(object, owner) }), err
}

// ControlledOrOrphaned returns the objects, indexed ByOwner,
// that the UID controls, and those of the namespace that match the
// selector and have no controller. They are shared with the cache and must not
// be changed.
func ControlledOrOrphaned[T metav1.Object](
	r podwright.Reader, resource podwright.Resource, namespace string, owner types.UID, selector labels.Selector,
) ([]T, error) {
	controlled, err := ControlledBy[T](r, resource, namespace, owner)
	if err != nil {
		return nil, err
	}
	orphans, err := byIndex[T](r, resource, namespace, ByOwner, orphansOf(namespace))
	if err != nil {
		return nil, err
	}
	for _, orphan := range orphans {
		if selector.Matches(labels.Set(orphan.GetLabels())) {
			controlled = append(controlled, orphan)
		}
	}
	return controlled, nil
}

// IsControlledOrOrphaned tells whether ControlledOrOrphaned returns an object of the
// namespace, once the cache holds it.
func IsControlledOrOrphaned(object metav1.Object, owner types.UID, selector labels.Selector) bool {
	return controlledBy(object, owner) || orphaned(object) && selector.Matches(labels.Set(object.GetLabels()))
}

func controlledBy(object metav1.Object, owner types.UID) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == owner
}

// orphaned tells whether an object can be adopted. It may have owners that only
// keep it from the garbage collector.
func orphaned(object metav1.Object) bool { return metav1.GetControllerOfNoCopy(object) == nil }

// orphansOf stands in the index for the missing controller; no UID holds a slash.
func orphansOf(namespace string) string { return "orphans/" + namespace }
