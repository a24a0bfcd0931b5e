// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// reads lists what the plan for a pod depends on.
func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: caches.Pods, Object: &corev1.Pod{}, Informer: &o.Pods, MakeInformer: caches.NewInformers(o.Kubernetes, o.Namespace).Pods,
		Fields: controller.KruisePodReady, Concern: controller.On(podChanged),
	}}
}

// podChanged enqueues a pod that lacks the condition, once: a reconcile that fails
// is repeated anyway. One that is gone and has the gate is forgotten.
func podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	switch {
	case after == nil && readiness.HasGate(before, v1alpha1.KruisePodReady):
		enqueue(cache.MetaObjectToName(before).AsNamespacedName())
	case after != nil && lacks(after) && (before == nil || !lacks(before) || after.UID != before.UID):
		enqueue(cache.MetaObjectToName(after).AsNamespacedName())
	}
}

// lacks tells whether a pod has the gate and lacks the condition.
func lacks(pod *corev1.Pod) bool {
	return readiness.Initial(&podpatch.Patch{}, pod, pod.CreationTimestamp.Time)
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	pods    apiwriter.Resource
}

// kind describes pods to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: &apply.Writer{Recorder: o.Recorder}, pods: apiwriter.Pods(o.Kubernetes)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, Writer: r.writer,
	}
}

// observe returns nil when there is no such pod.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	pod, err := caches.Object[corev1.Pod](r.options.Reader, caches.Pods, "pod", key)
	if pod == nil || err != nil {
		return nil, err
	}
	return &Snapshot{Pod: pod, Now: r.options.Clock.Now()}, nil
}
