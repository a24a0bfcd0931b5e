// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// ownerIndex finds objects by the UIDs of their owners, and those without a
// controller by the empty string.
const ownerIndex = ".metadata.ownerReferences.uid"

// cacheReader is a cloneset.Reader on the cache of a manager.
type cacheReader struct {
	cache client.Reader
	seen  map[cloneset.Resource]toolscache.SharedIndexInformer
}

var _ cloneset.Reader = (*cacheReader)(nil)

func newCacheReader(ctx context.Context, m ctrl.Manager) (*cacheReader, error) {
	reader := &cacheReader{cache: m.GetCache(), seen: map[cloneset.Resource]toolscache.SharedIndexInformer{}}
	for resource, kind := range map[cloneset.Resource]client.Object{
		cloneset.ResourceCloneSets: &v1alpha1.CloneSet{},
		cloneset.ResourcePods:      &corev1.Pod{},
		cloneset.ResourceClaims:    &corev1.PersistentVolumeClaim{},
		cloneset.ResourceRevisions: &appsv1.ControllerRevision{},
	} {
		if resource != cloneset.ResourceCloneSets {
			if err := m.GetFieldIndexer().IndexField(ctx, kind, ownerIndex, owners); err != nil {
				return nil, err
			}
		}
		shared, err := informer(ctx, m, kind)
		if err != nil {
			return nil, err // it could not tell what it has seen
		}
		reader.seen[resource] = shared
	}
	return reader, nil
}

func owners(object client.Object) []string {
	references := object.GetOwnerReferences()
	uids := make([]string, len(references), len(references)+1)
	for i := range references {
		uids[i] = string(references[i].UID)
	}
	if metav1.GetControllerOfNoCopy(object) == nil {
		uids = append(uids, "")
	}
	return uids
}

// list reads the objects of an owner without copying them.
func (r *cacheReader) list(into client.ObjectList, namespace string, owner types.UID) error {
	return r.cache.List(context.Background(), into, client.InNamespace(namespace),
		client.MatchingFields{ownerIndex: string(owner)}, client.UnsafeDisableDeepCopy)
}

// CloneSet implements cloneset.Reader.
func (r *cacheReader) CloneSet(namespace, name string) (*v1alpha1.CloneSet, error) {
	set := &v1alpha1.CloneSet{}
	if err := r.cache.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, set); err != nil {
		return nil, err
	}
	return set, nil
}

// Pods implements cloneset.Reader.
func (r *cacheReader) Pods(namespace string, owner types.UID) ([]*corev1.Pod, error) {
	var list corev1.PodList
	err := r.list(&list, namespace, owner)
	return pointers(list.Items), err
}

// Claims implements cloneset.Reader.
func (r *cacheReader) Claims(namespace string, owner types.UID) ([]*corev1.PersistentVolumeClaim, error) {
	var list corev1.PersistentVolumeClaimList
	err := r.list(&list, namespace, owner)
	return pointers(list.Items), err
}

// Revisions implements cloneset.Reader.
func (r *cacheReader) Revisions(namespace string, owner types.UID, selector labels.Selector) ([]*appsv1.ControllerRevision, error) {
	var owned, orphans appsv1.ControllerRevisionList
	if err := r.list(&owned, namespace, owner); err != nil {
		return nil, err
	}
	if err := r.list(&orphans, namespace, ""); err != nil {
		return nil, err
	}
	found := pointers(owned.Items)
	for i := range orphans.Items {
		orphan := &orphans.Items[i]
		if !slices.Contains(owners(orphan), string(owner)) && selector.Matches(labels.Set(orphan.Labels)) {
			found = append(found, orphan)
		}
	}
	return found, nil
}

// Node implements cloneset.Reader.
func (r *cacheReader) Node(name string) *corev1.Node {
	node := &corev1.Node{}
	if err := r.cache.Get(context.Background(), client.ObjectKey{Name: name}, node); err != nil {
		return nil
	}
	return node
}

// Seen implements cloneset.Reader.
func (r *cacheReader) SyncedResourceVersion(resource cloneset.Resource) string {
	return r.seen[resource].GetStore().LastStoreSyncResourceVersion()
}

func pointers[T any](items []T) []*T {
	list := make([]*T, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list
}
