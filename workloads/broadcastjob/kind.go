// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The caches that a Reconciler writes to, and so waits for.
const (
	resourceBroadcastJobs podwright.Resource = "broadcastjobs"
	resourcePods          podwright.Resource = caches.Pods
)

// The fields that a plan reads of pods and nodes.
const (
	podFields  = controller.Labels | controller.NodeName | controller.Phase | controller.Restarts | controller.Trouble
	nodeFields = controller.Labels | controller.Placement
)

// reads lists what a job's plan depends on. Nodes that are there at the start concern
// jobs that are there at the start.
func (o *Options) reads() []controller.Read {
	core, owner := controller.NewCore(o.Kubernetes, o.Namespace), v1alpha1.SchemeGroupVersion.WithKind(kind).GroupKind()
	return []controller.Read{
		{Resource: resourceBroadcastJobs, Object: &v1alpha1.BroadcastJob{}, LiveReader: apiwriter.Typed(o.Workloads.BroadcastJobs), Informer: &o.BroadcastJobs,
			MakeInformer: controller.Maker(client.NewBroadcastJobInformer, o.Workloads, o.Namespace), Fields: controller.Workload, IsReconciled: true},
		core.Pods(&o.Pods, podFields).OwnedBy(owner),
		core.Nodes(&o.Nodes, nodeFields).Concerning(nodeChanged(o)),
	}
}

// nodeChanged enqueues the jobs that have not finished. Heartbeats of a node are no
// event, and a reconcile that finds nothing to do costs no request. (BJ-16)
func nodeChanged(o *Options) controller.Concern {
	return func(_ controller.Event, enqueue controller.Enqueue) {
		for _, object := range o.BroadcastJobs.GetIndexer().List() {
			if job, ok := object.(*v1alpha1.BroadcastJob); ok && !over(job) {
				enqueue(types.NamespacedName{Namespace: job.Namespace, Name: job.Name})
			}
		}
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	writer  *apply.Writer
	taken   apiwriter.Last[map[string]bool]  // see Snapshot.TakenNames
	misfits podplan.BackOff                  // see Snapshot.BackOff
	repairs apiwriter.Last[podplan.Repaired] // see Snapshot.Deleted
	formers nodefit.Formers                  // see Snapshot.Former
}

// kind describes BroadcastJobs to the shell.
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
	r.taken.Forget(key)
	r.misfits.Forget(key)
	r.repairs.Forget(key)
	r.formers.Forget(key)
}

// observe reads everything that a plan for the job depends on. It returns nil
// when the job does not exist.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	job, err := caches.Object[v1alpha1.BroadcastJob](r.options.Reader, resourceBroadcastJobs, "BroadcastJob", key)
	if job == nil || err != nil {
		return nil, err
	}
	s := &Snapshot{Job: job, TakenNames: r.taken.Get(key), AssignDirectly: r.options.Features.AssignDirectly, HeldSince: r.writer.HeldSince(job), Now: r.options.Clock.Now()}
	repaired := r.repairs.Get(key)
	s.Deleted, s.NotDeleted = repaired.Deleted, repaired.Kept
	s.BackOff = r.misfits.Until(key, s.Now, func(string) bool { return false })
	if s.Pods, err = caches.ControlledBy[*corev1.Pod](r.options.Reader, resourcePods, key.Namespace, job.UID); err != nil {
		return nil, fmt.Errorf("read the pods of BroadcastJob %s: %w", key, err)
	}
	if s.over() {
		return s, nil // the nodes no longer matter
	}
	if s.Nodes, err = caches.AllNodes(r.options.Reader); err != nil {
		return nil, fmt.Errorf("read the nodes: %w", err)
	}
	var names map[string]bool // which their nodes had
	if s.Former, names = r.formers.Look(job, s.Pods, s.Nodes); len(names) > 0 {
		taken := maps.Clone(names)
		maps.Copy(taken, s.TakenNames)
		s.TakenNames = taken
	}
	return s, nil
}
