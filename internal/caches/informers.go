package caches

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Informers makes the informers that the user of a controller does not share.
// NewInformers makes one.
type Informers struct {
	// Own are the informers that it has made, for the controller to run.
	Own []cache.SharedIndexInformer
	// Synced tells of these and of the shared ones whether they are filled.
	Synced []cache.InformerSynced

	core informers.SharedInformerFactory
}

// NewInformers returns the Informers that restrict what they make to a
// namespace, empty for all.
func NewInformers(client kubernetes.Interface, namespace string) *Informers {
	return &Informers{core: informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))}
}

// Or returns the shared informer, or where that is nil the one that is made,
// whose objects are trimmed.
func (i *Informers) Or(shared cache.SharedIndexInformer, made func() cache.SharedIndexInformer) cache.SharedIndexInformer {
	informer := shared
	if informer == nil {
		informer = made()
		_ = informer.SetTransform(Trim) // fails only once it runs
		i.Own = append(i.Own, informer)
	}
	i.Synced = append(i.Synced, informer.HasSynced)
	return informer
}

// Pods returns the shared informer, or one of its own where that is nil.
func (i *Informers) Pods(shared cache.SharedIndexInformer) cache.SharedIndexInformer {
	return i.Or(shared, i.core.Core().V1().Pods().Informer)
}

// Claims returns the shared informer, or one of its own where that is nil.
func (i *Informers) Claims(shared cache.SharedIndexInformer) cache.SharedIndexInformer {
	return i.Or(shared, i.core.Core().V1().PersistentVolumeClaims().Informer)
}

// Revisions returns the shared informer, or one of its own where that is nil.
func (i *Informers) Revisions(shared cache.SharedIndexInformer) cache.SharedIndexInformer {
	return i.Or(shared, i.core.Apps().V1().ControllerRevisions().Informer)
}

// Nodes returns the shared informer, or one of its own where that is nil.
func (i *Informers) Nodes(shared cache.SharedIndexInformer) cache.SharedIndexInformer {
	return i.Or(shared, i.core.Core().V1().Nodes().Informer)
}
