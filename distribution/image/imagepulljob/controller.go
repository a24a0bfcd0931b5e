package imagepulljob

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// Controller keeps ImagePullJobs as their specs say. New makes one.
type Controller struct {
	// Reconciler makes the passes; exported for tools that ask what the next
	// pass would do.
	Reconciler *Reconciler

	loop *controller.Loop
	jobs cache.Indexer
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	o.Reader = nil
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := caches.CheckVersions(); err != nil {
		return nil, fmt.Errorf("imagepulljob: %w", err)
	}
	in := informersOf(&o)
	if err := caches.AddPullJobIndex(o.ImagePullJobs); err != nil {
		return nil, fmt.Errorf("imagepulljob: %w", err)
	}
	o.Reader = newInformerReader(&o)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, jobs: o.ImagePullJobs.GetIndexer(), loop: controller.NewLoop(controller.Config{
		Name: "imagepulljob-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	return c, c.watch(&o)
}

// informersOf makes the informers that the caller does not share.
func informersOf(o *Options) *caches.Informers {
	in := caches.NewInformers(o.Kubernetes, o.Namespace)
	o.ImagePullJobs = in.Or(o.ImagePullJobs, func() cache.SharedIndexInformer {
		return client.NewImagePullJobInformer(o.Distribution, o.Namespace, 0, cache.Indexers{})
	})
	o.NodeImages = in.Or(o.NodeImages, func() cache.SharedIndexInformer {
		return client.NewNodeImageInformer(o.Distribution, 0, cache.Indexers{})
	})
	o.Pods = in.Pods(o.Pods)
	if o.CloneSets != nil || o.Workloads != nil {
		o.CloneSets = in.Or(o.CloneSets, func() cache.SharedIndexInformer {
			return workloadsclient.NewCloneSetInformer(o.Workloads, o.Namespace, 0, byNamespace())
		})
	}
	if o.StatefulSets != nil || o.Workloads != nil {
		o.StatefulSets = in.Or(o.StatefulSets, func() cache.SharedIndexInformer {
			return workloadsclient.NewStatefulSetInformer(o.Workloads, o.Namespace, 0, byNamespace())
		})
	}
	return in
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// watch has a pass made over a job whenever something changes that its plan
// depends on.
func (c *Controller) watch(o *Options) error {
	_, jobs := o.ImagePullJobs.AddEventHandler(controller.OfWorkloads(c.loop.Add,
		func(job *v1alpha1.ImagePullJob) any { return &job.Status }, c.Reconciler.writer.WroteStatus))
	// What is there at the start concerns jobs that are there at the start.
	_, nodeImages := o.NodeImages.AddEventHandler(controller.OfAny(false, c.nodeImageChanged))
	_, pods := o.Pods.AddEventHandler(controller.OfAny(false, c.podChanged))
	if err := errors.Join(jobs, nodeImages, pods); err != nil {
		return fmt.Errorf("imagepulljob: watch: %w", err)
	}
	return nil
}

// enqueue asks for a pass over a job once the events about its nodes have been
// collected.
func (c *Controller) enqueue(job types.NamespacedName) {
	c.loop.AddAfter(job, c.Reconciler.passes.SettleTime(job))
}
