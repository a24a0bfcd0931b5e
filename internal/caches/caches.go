// Package caches holds what controllers share in reading informers: the index
// from an owner to what it owns, and the transform that keeps caches small.
package caches

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// byOwner is the name of the index from the UID of an owner to its objects.
const byOwner = "podwright.ownerUID"

// AddOwnerIndex indexes an informer by the UIDs of the owners of its objects.
// It does nothing where the informer has that index already.
func AddOwnerIndex(informer cache.SharedIndexInformer) error {
	if _, found := informer.GetIndexer().GetIndexers()[byOwner]; found {
		return nil
	}
	if err := informer.AddIndexers(cache.Indexers{byOwner: ownerUIDs}); err != nil {
		return fmt.Errorf("index by owner: %w", err)
	}
	return nil
}

func ownerUIDs(obj any) ([]string, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	owners := object.GetOwnerReferences()
	if len(owners) == 0 {
		return []string{orphansOf(object.GetNamespace())}, nil
	}
	uids := make([]string, len(owners))
	for i := range owners {
		uids[i] = string(owners[i].UID)
	}
	return uids, nil
}

// OwnedBy returns the objects of an informer indexed by AddOwnerIndex that name the
// UID as an owner. They are shared with the cache and must not be changed.
func OwnedBy[T any](indexer cache.Indexer, owner types.UID) ([]T, error) {
	objects, err := indexer.ByIndex(byOwner, string(owner))
	if err != nil {
		return nil, err
	}
	owned := make([]T, 0, len(objects))
	for _, object := range objects {
		t, ok := object.(T)
		if !ok {
			return nil, fmt.Errorf("the cache holds a %T where %T is wanted", object, *new(T))
		}
		owned = append(owned, t)
	}
	return owned, nil
}

// Orphans returns the objects of a namespace that have no owner at all, of an
// informer indexed by AddOwnerIndex. They are shared with the cache and must
// not be changed.
func Orphans[T any](indexer cache.Indexer, namespace string) ([]T, error) {
	return OwnedBy[T](indexer, types.UID(orphansOf(namespace)))
}

// OwnedOrMatching returns the objects of a namespace that name the UID as an
// owner, and the orphans that match the selector.
func OwnedOrMatching[T metav1.Object](indexer cache.Indexer, namespace string, owner types.UID, selector labels.Selector) ([]T, error) {
	found, err := OwnedBy[T](indexer, owner)
	if err != nil {
		return nil, err
	}
	orphans, err := Orphans[T](indexer, namespace)
	if err != nil {
		return nil, err
	}
	for _, orphan := range orphans {
		if selector.Matches(labels.Set(orphan.GetLabels())) {
			found = append(found, orphan)
		}
	}
	return found, nil
}

// orphansOf stands in the index for the missing owner; no UID holds a slash.
func orphansOf(namespace string) string { return "orphans/" + namespace }

// Trim drops from an object, before it enters a cache of podwright's own, what
// no controller of podwright reads: managed fields; of pods what only scheduler
// and kubelet need; of nodes images and volumes. That is half of a pod.
func Trim(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	switch object := obj.(type) {
	case *corev1.Pod:
		trimPod(object)
	case *corev1.Node:
		object.Status.Images, object.Status.VolumesInUse, object.Status.VolumesAttached = nil, nil, nil
	}
	return obj, nil
}

// trimPod keeps containers as they are: hashes are computed over them.
func trimPod(pod *corev1.Pod) {
	pod.Spec.Volumes, pod.Spec.Tolerations, pod.Spec.Affinity = nil, nil, nil
	pod.Spec.TopologySpreadConstraints, pod.Spec.NodeSelector = nil, nil
	pod.Spec.HostAliases, pod.Spec.DNSConfig, pod.Spec.ImagePullSecrets = nil, nil, nil
	pod.Status.HostIPs, pod.Status.PodIPs = nil, nil
}
