// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// podFields are the fields that the plan for a pod reads.
const podFields = controller.Phase | controller.Containers | controller.ContainerStates | controller.Waiting | controller.ContainersReady

// reads lists what the plan for a pod depends on.
func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
		Fields: podFields, Concern: controller.On(o.Features.podChanged),
	}}
}

// podChanged enqueues a pod when it becomes the turn of other containers. It also does
// when the kubelet refuses one whose turn it is: a user may have deleted the ConfigMap.
// Nothing is done about a pod that is gone.
func (f Features) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	if after != nil && f.mayChangePlan(before, after) {
		enqueue(cache.MetaObjectToName(after).AsNamespacedName())
	}
}

// mayChangePlan tells whether a plan may differ after a change of a pod; before is nil
// for a new one.
func (f Features) mayChangePlan(before, after *corev1.Pod) bool {
	now, found := f.turnOf(after)
	if !found || before == nil || before.UID != after.UID {
		return found
	}
	was, had := f.turnOf(before)
	return !had || now.priority != was.priority || !slices.Equal(now.containers, was.containers) || now.refused && !was.refused
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options   Options
	writer    *apply.Writer
	creations apply.Creations
}

// kind describes pods to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: &apply.Writer{Recorder: o.Recorder}}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Forget:  r.creations.Forget,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, Writer: r.writer,
	}
}

// observe reads everything that a plan for the pod depends on. It returns nil
// if there is no such pod, or nothing to decide about it: then the ConfigMap
// is not read.
//
// It reads the ConfigMap from the API server and not from a cache. So a reconcile sees
// what the one before it wrote, and notices that a user has deleted the ConfigMap.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	pod, err := caches.Object[corev1.Pod](r.options.Reader, caches.Pods, "pod", key)
	if pod == nil || err != nil {
		return nil, err
	}
	if _, found := r.options.Features.turnOf(pod); !found {
		return nil, nil
	}
	name := barrier.ConfigMapName(key.Name)
	configMap, err := r.options.Kubernetes.CoreV1().ConfigMaps(key.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &Snapshot{Pod: pod, Features: r.options.Features}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", key.Namespace, name, err)
	}
	return &Snapshot{Pod: pod, ConfigMap: configMap, Features: r.options.Features}, nil
}
