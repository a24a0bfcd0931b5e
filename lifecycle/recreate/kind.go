// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The caches that a Reconciler reads.
const (
	resourceRequests podwright.Resource = "containerrecreaterequests"
	resourcePods     podwright.Resource = caches.Pods
)

// podFields are the fields that a plan reads of the pod of a request. Its
// conditions are not among them: they are read when they are written.
const podFields = controller.Containers | controller.ContainerStates

// byPodUID is the index of requests by the UID of their pod.
var byPodUID = caches.ByLabel(v1alpha1.ContainerRecreateRequestPodUIDLabel)

// reads lists what the plan for a request depends on.
func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: resourceRequests, Object: &v1alpha1.ContainerRecreateRequest{}, LiveReader: apiwriter.Typed(o.Lifecycle.ContainerRecreateRequests), Informer: &o.Requests,
			MakeInformer: controller.Maker(client.NewContainerRecreateRequestInformer, o.Lifecycle, o.Namespace), Indexes: []podwright.Index{byPodUID}, Fields: controller.Workload | controller.Finalizers, Concern: controller.On(requestChanged)},
		{Resource: resourcePods, Object: &corev1.Pod{}, LiveReader: apiwriter.Pods(o.Kubernetes), Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
			Fields: podFields, Concern: controller.EachOf(o.requestsOf)},
	}
}

// requestChanged enqueues a request whose plan may differ.
func requestChanged(before, after *v1alpha1.ContainerRecreateRequest, enqueue controller.Enqueue) {
	switch {
	case after == nil:
		enqueue(cache.MetaObjectToName(before).AsNamespacedName())
	case before == nil || requestMatters(before, after):
		enqueue(cache.MetaObjectToName(after).AsNamespacedName())
	}
}

// requestsOf names the requests for a pod, but those that are over: only their own changes matter to them.
func (o *Options) requestsOf(pod metav1.Object) (keys []types.NamespacedName) {
	// The index is there, so there is no error.
	found, _ := caches.Labelled[*v1alpha1.ContainerRecreateRequest](o.Reader, resourceRequests, pod.GetNamespace(), byPodUID, string(pod.GetUID()))
	for _, request := range found {
		if s := (Snapshot{Request: request}); !s.over() {
			keys = append(keys, cache.MetaObjectToName(request).AsNamespacedName())
		}
	}
	return keys
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

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	running running
}

// kind describes requests to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.running.forget,
		SnapshotHolds: func(s *Snapshot, resource podwright.Resource) func(string) bool {
			return func(name string) bool {
				return resource == resourcePods && s.Pod != nil && s.Pod.Name == name
			}
		},
	}
}

// observe reads everything that a plan for the request depends on. It returns
// nil when the request does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	request, err := caches.Object[v1alpha1.ContainerRecreateRequest](r.options.Reader, resourceRequests, "ContainerRecreateRequest", key)
	if request == nil || err != nil {
		return nil, err
	}
	pod, err := apiwriter.Found(caches.Get[*corev1.Pod](r.options.Reader, resourcePods, key.Namespace, request.Spec.PodName))
	if err != nil {
		return nil, fmt.Errorf("read pod %s of ContainerRecreateRequest %s: %w", request.Spec.PodName, key, err)
	}
	now := r.options.Clock.Now()
	s := &Snapshot{Request: request, Pod: pod, Seen: r.running.saw(key, request, now), HeldSince: r.writer.HeldSince(request), Now: now}
	s.Silent = r.running.silent(key, s.Turn(), now)
	return s, nil
}
