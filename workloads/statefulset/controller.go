package statefulset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Controller keeps StatefulSets as their specs say. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	loop *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("statefulset: %w", err)
	}
	in := informersOf(&o)
	if err := errors.Join(caches.AddMemberIndex(o.Pods), caches.AddOwnerIndex(o.Claims), caches.AddOwnerIndex(o.Revisions)); err != nil {
		return nil, fmt.Errorf("statefulset: %w", err)
	}
	reader := newInformerReader(&o)
	o.Reader = reader
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, loop: controller.NewLoop(controller.Config{
		Name: "statefulset-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	return c, c.watch(&o, reader)
}

// informersOf makes the informers that the caller does not share.
func informersOf(o *Options) *caches.Informers {
	in := caches.NewInformers(o.Kubernetes, o.Namespace)
	o.StatefulSets = in.Or(o.StatefulSets, func() cache.SharedIndexInformer {
		return client.NewStatefulSetInformer(o.Workloads, o.Namespace, 0, cache.Indexers{})
	})
	o.Pods, o.Claims, o.Revisions = in.Pods(o.Pods), in.Claims(o.Claims), in.Revisions(o.Revisions)
	return in
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// watch has a pass made over a StatefulSet whenever something changes that its
// plan depends on.
func (c *Controller) watch(o *Options, reader *informerReader) error {
	var errs []error
	handle := func(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
		_, err := informer.AddEventHandler(handler)
		errs = append(errs, err)
	}
	kind := v1beta1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind()
	handle(o.StatefulSets, controller.OfWorkloads(c.loop.Add,
		func(set *v1beta1.StatefulSet) any { return &set.Status }, c.Reconciler.writer.WroteStatus))
	handle(o.Pods, controller.OfOwned(c.enqueueOwner, reader.setsOfPod, controller.PodChanged))
	handle(o.Claims, controller.OfOwned(c.enqueueOwner, reader.setsOfClaim, controller.ClaimChanged))
	handle(o.Revisions, controller.OfOwned(c.enqueueOwner, controller.Owners(kind), controller.RevisionChanged))
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
func (r *informerReader) setsOfPod(pod metav1.Object) []types.NamespacedName {
	set, _, ok := podplan.SplitOrdinal(pod.GetName())
	if !ok {
		return nil
	}
	return r.existing(pod.GetNamespace(), set)
}

// setsOfClaim names the StatefulSets whose claim this may be by its name, in
// which the name of the claim template comes first.
func (r *informerReader) setsOfClaim(claim metav1.Object) (sets []types.NamespacedName) {
	rest, _, more := podplan.SplitOrdinal(claim.GetName())
	for more {
		if _, rest, more = strings.Cut(rest, "-"); more {
			sets = append(sets, r.existing(claim.GetNamespace(), rest)...)
		}
	}
	return sets
}

// existing returns the key of a StatefulSet where there is one.
func (r *informerReader) existing(namespace, name string) []types.NamespacedName {
	if _, err := r.StatefulSet(namespace, name); err != nil {
		return nil
	}
	return []types.NamespacedName{{Namespace: namespace, Name: name}}
}
