package cloneset

import (
	"context"
	"errors"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/changes"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Controller keeps CloneSets as their specs say. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	loop *controller.Loop
	own  []cache.SharedIndexInformer // informers to run
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		return nil, errors.New("cloneset: the feature AtomicFIFO of client-go is off; informers then cannot tell " +
			"how far they are, and a pass could not know whether it sees its own writes. Remove KUBE_FEATURE_AtomicFIFO=false")
	}
	c := &Controller{}
	c.fillInformers(&o)
	reader := &informerReader{
		sets: client.NewCloneSetLister(o.CloneSets.GetIndexer()),
		pods: o.Pods.GetIndexer(), claims: o.Claims.GetIndexer(), revisions: o.Revisions.GetIndexer(),
		stores: map[Resource]cache.Store{
			ResourceCloneSets: o.CloneSets.GetStore(), ResourcePods: o.Pods.GetStore(),
			ResourceClaims: o.Claims.GetStore(), ResourceRevisions: o.Revisions.GetStore(),
		},
	}
	shared := []cache.SharedIndexInformer{o.CloneSets, o.Pods, o.Claims, o.Revisions}
	if o.Nodes != nil {
		reader.nodes = o.Nodes.GetIndexer()
		shared = append(shared, o.Nodes)
	}
	for _, informer := range []cache.SharedIndexInformer{o.Pods, o.Claims, o.Revisions} {
		if err := caches.AddOwnerIndex(informer); err != nil {
			return nil, fmt.Errorf("cloneset: %w", err)
		}
	}
	o.Reader = reader
	var err error
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	c.loop = controller.NewLoop(controller.Config{
		Name: "cloneset-controller", Workers: o.Workers, Reconcile: c.Reconciler.Reconcile,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	for _, informer := range shared {
		c.loop.Synced = append(c.loop.Synced, informer.HasSynced)
	}
	return c, c.watch(&o)
}

// fillInformers makes the informers that the caller does not share.
func (c *Controller) fillInformers(o *Options) {
	core := informers.NewSharedInformerFactoryWithOptions(o.Kubernetes, 0,
		informers.WithNamespace(o.Namespace), informers.WithTransform(caches.Trim))
	own := func(informer *cache.SharedIndexInformer, make func() cache.SharedIndexInformer) {
		if *informer == nil {
			*informer = make()
			c.own = append(c.own, *informer)
		}
	}
	own(&o.CloneSets, func() cache.SharedIndexInformer {
		informer := client.NewCloneSetInformer(o.Workloads, o.Namespace, 0, cache.Indexers{})
		_ = informer.SetTransform(caches.Trim) // fails only once it runs
		return informer
	})
	own(&o.Pods, core.Core().V1().Pods().Informer)
	own(&o.Claims, core.Core().V1().PersistentVolumeClaims().Informer)
	own(&o.Revisions, core.Apps().V1().ControllerRevisions().Informer)
	if !o.NoNodes {
		own(&o.Nodes, core.Core().V1().Nodes().Informer)
	}
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, informer := range c.own {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	return c.loop.Run(ctx)
}

// watch has a pass made over a CloneSet whenever something changes that its
// plan depends on.
func (c *Controller) watch(o *Options) error {
	var errs []error
	handle := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
		_, err := informer.AddEventHandler(handler)
		errs = append(errs, err)
	}
	kind := v1alpha1.SchemeGroupVersion.WithKind("CloneSet").GroupKind()
	handle(o.CloneSets, changes.OfWorkloads(c.loop.Add,
		func(set *v1alpha1.CloneSet) any { return set.Status }, c.Reconciler.writer.WroteStatus))
	handle(o.Pods, changes.OfOwned(c.enqueueOwner, changes.Owners[*corev1.Pod](kind), changes.Pod))
	handle(o.Claims, changes.OfOwned(c.enqueueOwner, changes.Owners[*corev1.PersistentVolumeClaim](kind), changes.Claim))
	handle(o.Revisions, changes.OfOwned(c.enqueueOwner, changes.Owners[*appsv1.ControllerRevision](kind), changes.Revision))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("cloneset: watch: %w", err)
	}
	return nil
}

// enqueueOwner asks for a pass over a CloneSet once the events about what it
// owns have been collected.
func (c *Controller) enqueueOwner(owner types.NamespacedName) {
	c.loop.AddAfter(owner, c.Reconciler.passes.SettleTime(owner))
}
