// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
)

// The caches that several controllers read.
const (
	Pods      podwright.Resource = "pods"
	Claims    podwright.Resource = "persistentvolumeclaims"
	Revisions podwright.Resource = "controllerrevisions"
	Nodes     podwright.Resource = "nodes"
)

// Reader reads the informers of a controller. The Readers that New makes embed it,
// for the methods that several kinds have. What it returns is shared with the
// caches. A resource that it lacks has no objects.
type Reader map[podwright.Resource]cache.Indexer

// SyncedResourceVersion returns the resourceVersion up to which a cache is
// complete, empty when it cannot tell or is not known.
func (r Reader) SyncedResourceVersion(resource podwright.Resource) string {
	indexer, found := r[resource]
	if !found {
		return ""
	}
	return indexer.LastStoreSyncResourceVersion()
}

// Pods returns the pods that the UID controls.
func (r Reader) Pods(_ string, owner types.UID) ([]*corev1.Pod, error) {
	return ControlledBy[*corev1.Pod](r[Pods], owner)
}

// Claims returns the claims that name the UID as an owner: StatefulSets own claims without controlling them.
func (r Reader) Claims(_ string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error) {
	return OwnedBy[*corev1.PersistentVolumeClaim](r[Claims], owner)
}

// Revisions returns the revisions that the UID controls, and those of the
// namespace that match the selector and have no controller.
func (r Reader) Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	return ControlledOrOrphaned[*appsv1.ControllerRevision](r[Revisions], namespace, owner, selector)
}

// Nodes returns all nodes.
func (r Reader) Nodes() ([]*corev1.Node, error) {
	return List[*corev1.Node](r, Nodes, "", labels.Everything())
}

// Node returns a node; nil if it is not known.
func (r Reader) Node(name string) *corev1.Node {
	node, err := Get[*corev1.Node](r, Nodes, "", name)
	if err != nil {
		return nil
	}
	return node
}

// Get returns an object, or an error for which apierrors.IsNotFound holds. The
// namespace of objects without one is empty.
func Get[T any](r Reader, resource podwright.Resource, namespace, name string) (object T, err error) {
	indexer, known := r[resource]
	if !known {
		return object, apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
	}
	found, exists, err := indexer.GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil {
		return object, err
	}
	if !exists {
		return object, apierrors.NewNotFound(schema.GroupResource{Resource: string(resource)}, name)
	}
	object, ok := found.(T)
	if !ok {
		return object, fmt.Errorf("the cache of %s holds a %T where %T is wanted", resource, found, object)
	}
	return object, nil
}

// List returns the objects of a namespace (empty: of all) that match, in any order.
func List[T any](r Reader, resource podwright.Resource, namespace string, selector labels.Selector) (objects []T, err error) {
	indexer, known := r[resource]
	if !known {
		return nil, nil
	}
	err = cache.ListAllByNamespace(indexer, namespace, selector, func(found any) { objects = append(objects, found.(T)) })
	return objects, err
}
