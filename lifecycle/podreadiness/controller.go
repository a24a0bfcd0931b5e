package podreadiness

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// Controller opens the readiness gates of pods. New makes one.
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
	in := caches.NewInformers(o.Kubernetes, o.Namespace)
	o.Pods = in.Pods(o.Pods)
	o.Reader = informerReader{corelisters.NewPodLister(o.Pods.GetIndexer())}
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, loop: controller.NewLoop(controller.Config{
		Name: "pod-readiness-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	if _, err := o.Pods.AddEventHandler(c.onPods()); err != nil {
		return nil, fmt.Errorf("podreadiness: watch: %w", err)
	}
	return c, nil
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informer that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// onPods has a pass made over a pod that lacks the condition, once: a pass that
// fails is repeated anyway.
func (c *Controller) onPods() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok && lacks(pod) {
				c.loop.Add(keyOf(pod))
			}
		},
		UpdateFunc: func(before, after any) {
			b, a := before.(*corev1.Pod), after.(*corev1.Pod)
			if lacks(a) && (!lacks(b) || a.UID != b.UID) {
				c.loop.Add(keyOf(a))
			}
		},
	}
}

// lacks tells whether a pod has the gate and lacks the condition.
func lacks(pod *corev1.Pod) bool {
	return readiness.Initial(&podpatch.Patch{}, pod, pod.CreationTimestamp.Time)
}

func keyOf(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// informerReader reads an informer of pods.
type informerReader struct{ pods corelisters.PodLister }

func (r informerReader) Pod(namespace, name string) (*corev1.Pod, error) {
	return r.pods.Pods(namespace).Get(name)
}
