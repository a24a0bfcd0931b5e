// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Informers makes the informers of Kubernetes' own kinds that the user of a
// controller does not share.
type Informers struct {
	factory informers.SharedInformerFactory
}

// NewInformers returns the Informers that restrict what they make to a
// namespace, empty for all.
func NewInformers(client kubernetes.Interface, namespace string) Informers {
	return Informers{informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))}
}

// Pods makes an informer of pods.
func (i Informers) Pods() cache.SharedIndexInformer { return i.factory.Core().V1().Pods().Informer() }

// Claims makes an informer of claims.
func (i Informers) Claims() cache.SharedIndexInformer {
	return i.factory.Core().V1().PersistentVolumeClaims().Informer()
}

// Revisions makes an informer of revisions.
func (i Informers) Revisions() cache.SharedIndexInformer {
	return i.factory.Apps().V1().ControllerRevisions().Informer()
}

// Jobs makes an informer of Jobs.
func (i Informers) Jobs() cache.SharedIndexInformer { return i.factory.Batch().V1().Jobs().Informer() }

// Namespaces makes an informer of namespaces.
func (i Informers) Namespaces() cache.SharedIndexInformer {
	return i.factory.Core().V1().Namespaces().Informer()
}

// Nodes makes an informer of nodes.
func (i Informers) Nodes() cache.SharedIndexInformer { return i.factory.Core().V1().Nodes().Informer() }

// Deployments makes an informer of Deployments.
func (i Informers) Deployments() cache.SharedIndexInformer {
	return i.factory.Apps().V1().Deployments().Informer()
}

// ReplicaSets makes an informer of ReplicaSets.
func (i Informers) ReplicaSets() cache.SharedIndexInformer {
	return i.factory.Apps().V1().ReplicaSets().Informer()
}

// StatefulSets makes an informer of Kubernetes' own StatefulSets.
func (i Informers) StatefulSets() cache.SharedIndexInformer {
	return i.factory.Apps().V1().StatefulSets().Informer()
}

// ReplicationControllers makes an informer of ReplicationControllers.
func (i Informers) ReplicationControllers() cache.SharedIndexInformer {
	return i.factory.Core().V1().ReplicationControllers().Informer()
}
