// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
)

// Core makes reads of what Kubernetes itself has. NewCore makes one.
type Core struct {
	client kubernetes.Interface
	caches.Informers
}

// NewCore returns a Core whose informers are restricted to a namespace, empty for all.
func NewCore(client kubernetes.Interface, namespace string) Core {
	return Core{client, caches.NewInformers(client, namespace)}
}

// Pods reads pods, which the kind writes. The informer is the option of that name.
func (c Core) Pods(informer *cache.SharedIndexInformer, fields Fields) Read {
	return Read{Resource: caches.Pods, Object: &corev1.Pod{}, LiveReader: apiwriter.Pods(c.client), Informer: informer, MakeInformer: c.Informers.Pods, Fields: fields}
}

// Claims reads claims, which the kind writes.
func (c Core) Claims(informer *cache.SharedIndexInformer, fields Fields) Read {
	return Read{Resource: caches.Claims, Object: &corev1.PersistentVolumeClaim{}, LiveReader: apiwriter.Claims(c.client), Informer: informer, MakeInformer: c.Informers.Claims, Fields: fields}
}

// Revisions reads revisions, which the kind writes.
func (c Core) Revisions(informer *cache.SharedIndexInformer, fields Fields) Read {
	return Read{Resource: caches.Revisions, Object: &appsv1.ControllerRevision{}, LiveReader: apiwriter.Revisions(c.client), Informer: informer, MakeInformer: c.Informers.Revisions, Fields: fields}
}

// Nodes reads nodes, which the kind does not write.
func (c Core) Nodes(informer *cache.SharedIndexInformer, fields Fields) Read {
	return Read{Resource: caches.Nodes, Object: &corev1.Node{}, Informer: informer, MakeInformer: c.Informers.Nodes, Fields: fields}
}

// OwnedBy is the read of objects that concern the objects of a kind that own them. They are found by their owners.
func (r Read) OwnedBy(owner schema.GroupKind) Read {
	r.Indexes, r.owner, r.CollectEvents = []podwright.Index{caches.ByOwner}, owner, true
	return r
}

// Concerning is the read of objects whose events concern others, but not what is there at the start.
func (r Read) Concerning(concern Concern) Read {
	r.Concern, r.CollectEvents, r.SkipInitial = concern, true, true
	return r
}

// ConcerningKnown is Concerning for events that concern only objects which are reconciled, see ConcernsKnown.
func (r Read) ConcerningKnown(concern Concern) Read {
	r = r.Concerning(concern)
	r.ConcernsKnown = true
	return r
}

// IndexedBy is the read of objects that are found by these indexes.
func (r Read) IndexedBy(indexes ...podwright.Index) Read {
	r.Indexes = indexes
	return r
}

// Maker returns a Read.MakeInformer of a typed client: what makes its informers, the client, and the namespace of
// the objects, empty for all.
func Maker[C any](make func(C, string, time.Duration, cache.Indexers) cache.SharedIndexInformer, client C, namespace string) func() cache.SharedIndexInformer {
	return func() cache.SharedIndexInformer { return make(client, namespace, 0, cache.Indexers{}) }
}
