package launchpriority

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// Controller starts the containers of pods in order. New makes one.
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
	if o.Workers == 0 {
		o.Workers = 4
	}
	in := caches.NewInformers(o.Kubernetes, o.Namespace)
	o.Pods = in.Pods(o.Pods)
	o.Reader = newInformerReader(o.Pods)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, loop: controller.NewLoop(controller.Config{
		Name: "container-launch-priority-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	if _, err := o.Pods.AddEventHandler(c.onPods()); err != nil {
		return nil, fmt.Errorf("launchpriority: watch: %w", err)
	}
	return c, nil
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informer that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// onPods has a pass made over a pod when it becomes the turn of other
// containers, and when the kubelet refuses one whose turn it is: somebody may
// have deleted the ConfigMap. Nothing is done about a pod that is gone.
func (c *Controller) onPods() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok && moves(nil, pod) {
				c.loop.Add(cache.MetaObjectToName(pod).AsNamespacedName())
			}
		},
		UpdateFunc: func(before, after any) {
			b, a := before.(*corev1.Pod), after.(*corev1.Pod)
			if moves(b, a) {
				c.loop.Add(cache.MetaObjectToName(a).AsNamespacedName())
			}
		},
	}
}

// moves tells whether a plan may differ after a change of a pod; before is nil
// for a new one.
func moves(before, after *corev1.Pod) bool {
	now, found := turnOf(after)
	if !found || before == nil || before.UID != after.UID {
		return found
	}
	was, had := turnOf(before)
	return !had || now.priority != was.priority || !slices.Equal(now.containers, was.containers) || now.refused && !was.refused
}
