package recreate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Controller looks after ContainerRecreateRequests. New makes one.
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
		return nil, fmt.Errorf("recreate: %w", err)
	}
	in := caches.NewInformers(o.Kubernetes, o.Namespace)
	o.Requests = in.Or(o.Requests, func() cache.SharedIndexInformer {
		return client.NewContainerRecreateRequestInformer(o.Lifecycle, o.Namespace, 0, cache.Indexers{})
	})
	o.Pods = in.Pods(o.Pods)
	if err := caches.AddLabelIndex(o.Requests, v1alpha1.ContainerRecreateRequestPodUIDLabel); err != nil {
		return nil, fmt.Errorf("recreate: %w", err)
	}
	o.Reader = newInformerReader(&o)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	c := &Controller{Reconciler: r, loop: controller.NewLoop(controller.Config{
		Name: "containerrecreaterequest-controller", Workers: o.Workers, Reconcile: r.Reconcile,
		Informers: in.Own, Synced: in.Synced,
		Clock: o.Clock, Metrics: o.Metrics, QueueMetrics: o.QueueMetrics,
	})}
	return c, c.watch(&o)
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// watch has a pass made over a request whenever something changes that its plan
// depends on.
func (c *Controller) watch(o *Options) error {
	_, err1 := o.Requests.AddEventHandler(controller.OfOwned(c.loop.Add, itself, requestMatters))
	_, err2 := o.Pods.AddEventHandler(controller.OfOwned(c.loop.Add, requestsOf(o.Requests.GetIndexer()), podMatters))
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("recreate: watch: %w", err)
	}
	return nil
}

func itself(request metav1.Object) []types.NamespacedName {
	return []types.NamespacedName{{Namespace: request.GetNamespace(), Name: request.GetName()}}
}

// requestsOf returns the function that names the requests for a pod, but those
// that are over: only their own changes matter to them.
func requestsOf(requests cache.Indexer) func(metav1.Object) []types.NamespacedName {
	return func(pod metav1.Object) (keys []types.NamespacedName) {
		// The index is there, so there is no error.
		found, _ := caches.Labelled[*v1alpha1.ContainerRecreateRequest](requests, pod.GetNamespace(),
			v1alpha1.ContainerRecreateRequestPodUIDLabel, string(pod.GetUID()))
		for _, request := range found {
			if s := (Snapshot{Request: request}); !s.over() {
				keys = append(keys, itself(request)...)
			}
		}
		return keys
	}
}

// requestMatters tells whether a plan may differ after a change of its request.
// What a node agent says of single containers does not matter.
func requestMatters(before, after *v1alpha1.ContainerRecreateRequest) bool {
	return before.UID != after.UID || before.Generation != after.Generation ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		before.Status.Phase != after.Status.Phase ||
		!before.Status.CompletionTime.Equal(after.Status.CompletionTime) ||
		hasFinalizer(before) != hasFinalizer(after) ||
		differ(before.Labels, after.Labels, v1alpha1.ContainerRecreateRequestActiveLabel, v1alpha1.ContainerRecreateRequestPodUIDLabel) ||
		differ(before.Annotations, after.Annotations,
			v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation, v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation)
}

func differ(before, after map[string]string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool {
		b, had := before[key]
		a, has := after[key]
		return had != has || b != a
	})
}

// podMatters tells whether the plan of a request may differ after a change of
// its pod. Its conditions do not matter: they are read when they are written.
func podMatters(before, after *corev1.Pod) bool {
	return before.UID != after.UID ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		!slices.EqualFunc(before.Status.ContainerStatuses, after.Status.ContainerStatuses, sameContainer)
}

func sameContainer(a, b corev1.ContainerStatus) bool {
	return a.Name == b.Name && a.Ready == b.Ready && a.RestartCount == b.RestartCount && a.ContainerID == b.ContainerID &&
		(a.State.Running == nil) == (b.State.Running == nil)
}
