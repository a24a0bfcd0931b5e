// SPDX-License-Identifier: Apache-2.0

package caches

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Owned reads what workloads own, in informers that AddOwnerIndex has indexed.
// What it returns is shared with the caches. Nodes may be nil: none are known.
type Owned struct {
	PodCache, ClaimCache, RevisionCache, NodeCache cache.SharedIndexInformer
}

// Pods returns the pods that name the UID as an owner.
func (o Owned) Pods(_ string, owner types.UID) ([]*corev1.Pod, error) {
	return OwnedBy[*corev1.Pod](o.PodCache.GetIndexer(), owner)
}

// Claims returns the claims that name the UID as an owner.
func (o Owned) Claims(_ string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error) {
	return OwnedBy[*corev1.PersistentVolumeClaim](o.ClaimCache.GetIndexer(), owner)
}

// Revisions returns the revisions that name the UID as an owner, and those of the
// namespace that match the selector and have no controller.
func (o Owned) Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	return OwnedOrOrphaned[*appsv1.ControllerRevision](o.RevisionCache.GetIndexer(), namespace, owner, selector)
}

// NodeLabels returns the labels of a node; nil where it is not known.
func (o Owned) NodeLabels(name string) map[string]string {
	if o.NodeCache == nil {
		return nil
	}
	object, found, err := o.NodeCache.GetIndexer().GetByKey(name)
	if err != nil || !found {
		return nil
	}
	return object.(*corev1.Node).Labels
}
