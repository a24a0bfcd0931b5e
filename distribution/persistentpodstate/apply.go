// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// StateMetrics receives what is recorded of pods. Implementations must be safe for use by several goroutines.
type StateMetrics interface {
	// Counted is called whenever the status of a PersistentPodState was computed. It gets the status, which it must not
	// change, and how many pods' states do not fit.
	Counted(namespace, name string, status *v1alpha1.PersistentPodStateStatus, refused int)
	// Replaced is called with the number of pods that were deleted since they waited for a node that does not exist.
	Replaced(namespace, name string, pods int)
	// Gone is called when a PersistentPodState no longer exists.
	Gone(namespace, name string)
}

// newWriter returns what a Reconciler writes and records events with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourceStates, o.Recorder
	w.Merge = apiwriter.TypedMerge(o.Distribution.PersistentPodStates)
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	state *v1alpha1.PersistentPodState
	plan  *Plan
}

// apply does what the plan says. One pod's failure does not stop the others; all
// errors are collected, so that the reconcile is repeated.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	if s.State == nil {
		return 0, r.create(ctx, plan)
	}
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.State), state: s.State, plan: plan}
	a.recordProblems()
	switch {
	case plan.Generated.Delete:
		return 0, a.delete(ctx)
	case plan.Generated.Update != nil:
		return 0, a.change(ctx)
	case len(plan.Problems) > 0:
		return 0, rollout.ErrorOf(plan.Problems)
	}
	controller.Measure(r.options.StateMetrics, func(m StateMetrics) {
		m.Counted(a.Key.Namespace, a.Key.Name, &plan.Record.Status, len(plan.Record.Refused))
	})
	err = errors.Join(a.status(ctx), apply.Each(ctx, plan.Replace, a.replace))
	return plan.RequeueAfter, apply.WorthRetrying(err)
}

// create creates the PersistentPodState that a workload asks for; nil for none. If there is one already, the cache
// will show it. (PPS-21)
func (r *reconciler) create(ctx context.Context, plan *Plan) error {
	s := plan.Generated.Create
	if s == nil {
		return nil
	}
	key := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	created, err := r.options.Distribution.PersistentPodStates(s.Namespace).Create(ctx, s, metav1.CreateOptions{})
	if err == nil {
		r.writer.Own.Wrote(key, resourceStates, created.ResourceVersion)
		return nil
	}
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if apiwriter.Unanswered(err) {
		r.writer.Own.Lost(key, resourceStates, s.Name)
	}
	err = fmt.Errorf("create PersistentPodState %s: %w", key, err)
	if r.writer.Recorder != nil && plan.For != nil {
		r.writer.Recorder.Event(referenceOf(plan.For), corev1.EventTypeWarning, "FailedCreate", apiwriter.Short(err.Error())) // (CT-11)
	}
	return err
}

// change gives a PersistentPodState the spec that its workload asks for, unless it has changed. (PPS-22)
func (a *applier) change(ctx context.Context) error {
	before, err := asMap(&a.state.Spec)
	if err != nil {
		return err
	}
	spec, err := asMap(a.plan.Generated.Update)
	if err != nil {
		return err
	}
	for field := range before { // a merge patch keeps what it does not name
		if _, found := spec[field]; !found {
			spec[field] = nil
		}
	}
	data, err := json.Marshal(map[string]any{"metadata": apply.Observed{UID: a.state.UID, ResourceVersion: a.Version}, "spec": spec})
	if err != nil {
		return fmt.Errorf("encode the spec: %w", err)
	}
	return a.PutBack("spec", apply.Wanted(data), func() error { return a.sendChange(ctx, data) })
}

func (a *applier) sendChange(ctx context.Context, data []byte) error {
	version, err := a.Merge(ctx, a.Key, data)
	if apierrors.IsNotFound(err) {
		return nil // the cache will show it
	}
	if err != nil {
		err = fmt.Errorf("change PersistentPodState %s: %w", a.Key, err)
		a.RecordFailure(apply.Update, err)
		return err
	}
	a.Wrote(resourceStates, version)
	return nil
}

func asMap(spec *v1alpha1.PersistentPodStateSpec) (fields map[string]any, err error) {
	data, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("encode the spec: %w", err)
	}
	return fields, nil
}

// delete deletes a PersistentPodState that its workload does not ask for any more, unless it has changed. (PPS-23)
func (a *applier) delete(ctx context.Context) error {
	version := a.Version
	err := a.options.Distribution.PersistentPodStates(a.Key.Namespace).Delete(ctx, a.Key.Name,
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &a.state.UID, ResourceVersion: &version}})
	if err != nil && !apierrors.IsNotFound(err) {
		err = fmt.Errorf("delete PersistentPodState %s: %w", a.Key, a.Unanswered(resourceStates, a.Key.Name, err))
		a.RecordFailure(apply.Delete, err)
		return err
	}
	return nil
}

// status writes the planned status, and tells what has begun with it. (PPS-9, PPS-18)
func (a *applier) status(ctx context.Context) error {
	if a.plan.Status == nil {
		return nil
	}
	if err := a.WriteStatus(ctx, &a.state.Status, a.plan.Status); err != nil || a.Gone {
		return err
	}
	for _, c := range a.plan.Status.Conditions {
		if c.Status == metav1.ConditionTrue && !meta.IsStatusConditionTrue(a.state.Status.Conditions, c.Type) {
			a.Event(corev1.EventTypeWarning, c.Type, "%s", c.Message)
		}
	}
	return nil
}

// replace deletes a pod that waits for a node that does not exist, unless it has changed: it may have found one. (PPS-19)
func (a *applier) replace(ctx context.Context, stuck podstate.Stuck) error {
	deleted, err := a.DeletePodUnchanged(ctx, stuck.Pod, apply.Delete)
	if !deleted || err != nil {
		return err
	}
	controller.Measure(a.options.StateMetrics, func(m StateMetrics) { m.Replaced(a.Key.Namespace, a.Key.Name, 1) })
	if a.Recorder != nil {
		a.Recorder.Eventf(stuck.Pod, corev1.EventTypeWarning, v1alpha1.TopologyLostEvent, "PersistentPodState %s: %s", a.Key.Name, stuck.Reason)
	}
	return nil
}

// recordProblems records what keeps the controller from doing its work from now on. (PPS-22, PPS-24)
func (a *applier) recordProblems() {
	if a.Begins(v1alpha1.UnknownWorkloadEvent, len(a.plan.Problems) > 0) {
		a.Event(corev1.EventTypeWarning, v1alpha1.UnknownWorkloadEvent, "%v", rollout.ErrorOf(a.plan.Problems))
	}
	if a.Begins(v1alpha1.NotGeneratedEvent, a.plan.Generated.Problem != "") && a.Recorder != nil {
		a.Recorder.Event(referenceOf(a.plan.For), corev1.EventTypeWarning, v1alpha1.NotGeneratedEvent, a.plan.Generated.Problem)
	}
}

// referenceOf is what an event about a workload is about.
func referenceOf(w *podstate.Workload) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: w.GroupVersion().String(), Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}
}
