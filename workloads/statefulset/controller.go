package statefulset

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Controller keeps StatefulSets as their specs say. New makes one.
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
		return nil, errors.New("statefulset: the feature AtomicFIFO of client-go is off; informers then cannot tell " +
			"how far they are, and a pass could not know whether it sees its own writes. Remove KUBE_FEATURE_AtomicFIFO=false")
	}
	c := &Controller{}
	c.fillInformers(&o)
	reader := &informerReader{
		sets: client.NewStatefulSetLister(o.StatefulSets.GetIndexer()),
		pods: o.Pods.GetIndexer(), claims: o.Claims.GetIndexer(), revisions: o.Revisions.GetIndexer(),
		stores: map[Resource]cache.Store{
			ResourceStatefulSets: o.StatefulSets.GetStore(), ResourcePods: o.Pods.GetStore(),
			ResourceClaims: o.Claims.GetStore(), ResourceRevisions: o.Revisions.GetStore(),
		},
	}
	if err := errors.Join(caches.AddMemberIndex(o.Pods), caches.AddOwnerIndex(o.Revisions)); err != nil {
		return nil, fmt.Errorf("statefulset: %w", err)
	}
	o.Reader = reader
	var err error
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	c.loop = controller.NewLoop(controller.Config{
		Name: "statefulset-controller", Workers: o.Workers, Reconcile: c.Reconciler.Reconcile,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})
	for _, informer := range []cache.SharedIndexInformer{o.StatefulSets, o.Pods, o.Claims, o.Revisions} {
		c.loop.Synced = append(c.loop.Synced, informer.HasSynced)
	}
	return c, c.watch(&o, reader)
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
	own(&o.StatefulSets, func() cache.SharedIndexInformer {
		informer := client.NewStatefulSetInformer(o.Workloads, o.Namespace, 0, cache.Indexers{})
		_ = informer.SetTransform(caches.Trim) // fails only once it runs
		return informer
	})
	own(&o.Pods, core.Core().V1().Pods().Informer)
	own(&o.Claims, core.Core().V1().PersistentVolumeClaims().Informer)
	own(&o.Revisions, core.Apps().V1().ControllerRevisions().Informer)
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

// watch has a pass made over a StatefulSet whenever something changes that its
// plan depends on.
func (c *Controller) watch(o *Options, reader *informerReader) error {
	var errs []error
	handle := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
		_, err := informer.AddEventHandler(handler)
		errs = append(errs, err)
	}
	kind := v1beta1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind()
	handle(o.StatefulSets, changes.OfWorkloads(c.loop.Add,
		func(set *v1beta1.StatefulSet) any { return set.Status }, c.Reconciler.writer.WroteStatus))
	handle(o.Pods, changes.OfOwned(c.enqueueOwner, reader.setsOfPod, changes.Pod))
	handle(o.Claims, changes.OfOwned(c.enqueueOwner, reader.setsOfClaim, changes.Claim))
	handle(o.Revisions, changes.OfOwned(c.enqueueOwner, changes.Owners[*appsv1.ControllerRevision](kind), changes.Revision))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("statefulset: watch: %w", err)
	}
	return nil
}

// enqueueOwner asks for a pass over a StatefulSet once the events about what it
// owns have been collected.
func (c *Controller) enqueueOwner(owner types.NamespacedName) {
	c.loop.AddAfter(owner, c.Reconciler.passes.SettleTime(owner))
}

// setsOfPod names the StatefulSet after which a pod is named, its own or not: a
// pod of somebody else may be in the way.
func (r *informerReader) setsOfPod(pod *corev1.Pod) []types.NamespacedName {
	return r.existing(pod.Namespace, withoutOrdinal(pod.Name))
}

// setsOfClaim names the StatefulSets whose claim this may be by its name, which
// holds that of the claim template, too.
func (r *informerReader) setsOfClaim(claim *corev1.PersistentVolumeClaim) (sets []types.NamespacedName) {
	rest := withoutOrdinal(claim.Name)
	for {
		_, set, more := strings.Cut(rest, "-")
		if !more {
			return sets
		}
		sets = append(sets, r.existing(claim.Namespace, set)...)
		rest = set
	}
}

// existing returns the key of a StatefulSet where there is one.
func (r *informerReader) existing(namespace, name string) []types.NamespacedName {
	if _, err := r.StatefulSet(namespace, name); err != nil {
		return nil
	}
	return []types.NamespacedName{{Namespace: namespace, Name: name}}
}

// withoutOrdinal returns a name up to its last dash, empty where there is none.
func withoutOrdinal(name string) string { return name[:max(strings.LastIndexByte(name, '-'), 0)] }
