// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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

// The caches that a Reconciler reads, and waits for.
const (
	resourceEphemeralJobs podwright.Resource = "ephemeraljobs"
	resourcePods          podwright.Resource = caches.Pods
)

// podFields are the fields that a plan reads of pods.
const podFields = controller.Labels | controller.NodeName | controller.Phase | controller.EphemeralContainers

// reads lists what a job's plan depends on. Pods that are there at the start concern
// jobs that are there at the start.
func (o *Options) reads() []controller.Read {
	return []controller.Read{
		{Resource: resourceEphemeralJobs, Object: &v1alpha1.EphemeralJob{}, LiveReader: apiwriter.Typed(o.Lifecycle.EphemeralJobs), Informer: &o.EphemeralJobs,
			MakeInformer: controller.Maker(client.NewEphemeralJobInformer, o.Lifecycle, o.Namespace), Indexes: []podwright.Index{caches.ByNamespace}, Fields: controller.Workload | controller.Finalizers, IsReconciled: true},
		controller.NewCore(o.Kubernetes, o.Namespace).Pods(&o.Pods, podFields).ConcerningKnown(controller.On(o.podChanged)),
	}
}

// podChanged enqueues the jobs that select a pod, or did before, but those that are over. (EJ-24)
func (o *Options) podChanged(before, after *corev1.Pod, enqueue controller.Enqueue) {
	// The index is there, so there is no error.
	jobs, _ := caches.All[*v1alpha1.EphemeralJob](o.Reader, resourceEphemeralJobs, cmp.Or(after, before).Namespace)
	for _, job := range jobs {
		if over(job) {
			continue
		}
		matcher, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
		if err == nil && (selects(matcher, before) || selects(matcher, after)) {
			enqueue(cache.MetaObjectToName(job).AsNamespacedName())
		}
	}
}

// selects tells whether a pod, which may be nil, is selected.
func selects(matcher labels.Selector, pod *corev1.Pod) bool {
	return pod != nil && matcher.Matches(labels.Set(pod.Labels))
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options  Options
	writer   *apply.Writer
	refusals apiwriter.Last[remembered] // see Snapshot.Refusals
	reported apiwriter.Last[time.Time]  // see Snapshot.Reported
	idle     apiwriter.Last[map[types.UID]time.Time]
}

// kind describes EphemeralJobs to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, writer: newWriter(o)}
	return controller.Definition[Snapshot, Plan]{
		Name:    component,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply,
		Writer: r.writer, Forget: r.forget,
		SnapshotHolds: controller.HoldsOf(resourcePods, func(s *Snapshot) []*corev1.Pod { return s.Pods }, controller.HoldsNone),
	}
}

func (r *reconciler) forget(key types.NamespacedName) {
	r.refusals.Forget(key)
	r.reported.Forget(key)
	r.idle.Forget(key)
}

// observe reads everything that a plan for the job depends on. It returns nil
// when the job does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	job, err := caches.Object[v1alpha1.EphemeralJob](r.options.Reader, resourceEphemeralJobs, "EphemeralJob", key)
	if job == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Job: job, Refusals: r.refusals.Get(key).of(job), HeldSince: r.writer.HeldSince(job), Reported: r.reported.Get(key), Now: r.options.Clock.Now()}
	if over(job) {
		return s, nil // the pods no longer matter
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return s, nil // the plan reports it
	}
	if s.Pods, err = caches.List[*corev1.Pod](r.options.Reader, resourcePods, key.Namespace, selector); err != nil {
		return nil, fmt.Errorf("read the pods of EphemeralJob %s: %w", key, err)
	}
	s.Idle = s.idle(r.idle.Get(key))
	r.idle.Set(key, s.Idle)
	return s, nil
}
