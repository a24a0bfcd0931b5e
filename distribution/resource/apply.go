// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// TargetMetrics receives how many namespaces have their copies. Implementations must be
// safe for use by several goroutines.
type TargetMetrics interface {
	// Counted is called in every reconcile of a ResourceDistribution with the numbers of
	// namespaces that have a copy, and that do not.
	Counted(distribution string, succeeded, failed int)
	// Gone is called for a ResourceDistribution that no longer exists.
	Gone(distribution string)
}

// atOnce limits the requests under way for one ResourceDistribution.
const atOnce = 16

// newWriter returns what a Reconciler writes the status and records events with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{
		Workloads: resourceDistributions,
		Clock:     o.Clock,
		Merge:     apiwriter.TypedMerge(func(string) client.ResourceDistributionInterface { return o.Distribution.ResourceDistributions() }),
		Recorder:  o.Recorder,
	}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
	plan     *Plan
	resource podwright.Resource
	copies   apiwriter.Resource

	lock     sync.Mutex
	failures []Failure
	foreign  map[string]time.Time // namespaces in which something of the name is no copy
}

// apply does what the plan says. What fails in one namespace does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Distribution), snapshot: s, plan: plan, failures: slices.Clone(plan.Failed), foreign: map[string]time.Time{}}
	a.recordProblem()
	if plan.template == nil || len(plan.Problems) > 0 {
		if len(plan.Problems) == 0 {
			return 0, nil
		}
		return a.NoteHeld(a.Key, plan.held(nil), s.Now), a.status(ctx) // a change of the spec is an event (RD-11)
	}
	a.resource = resourceConfigMaps
	if plan.template.kind == kindSecret {
		a.resource = resourceSecrets
	}
	a.copies = r.options.copies(a.resource)
	err = errors.Join(
		each(ctx, plan.Create, a.create), each(ctx, plan.Update, a.update), each(ctx, plan.Replace, a.replace), each(ctx, plan.Delete, a.delete),
		a.status(ctx))
	a.remember()
	if len(a.foreign) > 0 {
		plan.requeue(conflictRetry)
	}
	if told := a.NoteHeld(a.Key, plan.held(a.failures), s.Now); told > 0 {
		plan.requeue(told)
	}
	return plan.RequeueAfter, err
}

// each does something in batches of 1, 2, 4 and so on, all of it whatever fails. (RD-4)
func each[T any](ctx context.Context, items []T, do func(context.Context, T) error) error {
	_, err := apiwriter.SlowStart(ctx, len(items), atOnce, len(items)+1, func(i int) error { return do(ctx, items[i]) })
	return err
}

// create creates a copy. If there is something of its name, that is a copy which no
// cache shows, or it is left alone. (RD-6, RD-7)
func (a *applier) create(ctx context.Context, object Object) error {
	a.findRival(ctx, object)
	version, err := a.copies.Create(ctx, object)
	if apierrors.IsAlreadyExists(err) {
		return a.take(ctx, object)
	}
	return a.ended(object, v1alpha1.ResourceDistributionCreateResourceFailed, version, err)
}

// take makes a copy of what has its name, if it is one. (RD-5, RD-7)
func (a *applier) take(ctx context.Context, object Object) error {
	found, err := a.read(ctx, object)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s %s is gone again", a.plan.template.kind, nameOf(object))
	case err != nil:
		return a.failed(object, v1alpha1.ResourceDistributionGetResourceFailed, err)
	}
	switch c := CopyOf(found); a.plan.compare(c) {
	case foreignCopy:
		a.lock.Lock()
		defer a.lock.Unlock()
		a.foreign[object.GetNamespace()] = a.snapshot.Now
		a.failures = append(a.failures, Failure{object.GetNamespace(), v1alpha1.ResourceDistributionConflictOccurred, errConflict})
		return nil // (RD-10)
	case differentCopy:
		return a.update(ctx, a.plan.template.updated(c, a.snapshot.Distribution))
	case unchangeableCopy:
		return a.replace(ctx, Replacement{Delete: c, Create: object})
	case sameCopy:
	}
	a.Wrote(a.resource, found.GetResourceVersion()) // the cache is behind
	return nil
}

// read returns an object of the name as the API server has it.
func (a *applier) read(ctx context.Context, object Object) (Object, error) {
	core := a.options.Kubernetes.CoreV1()
	if a.resource == resourceSecrets {
		return core.Secrets(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
	}
	return core.ConfigMaps(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
}

// update updates a copy. (RD-8)
func (a *applier) update(ctx context.Context, object Object) error {
	a.findRival(ctx, object)
	version, err := a.copies.Update(ctx, object)
	return a.ended(object, v1alpha1.ResourceDistributionUpdateResourceFailed, version, err)
}

// replace deletes a copy and creates it anew, once the API server says that it would accept
// the new one. Until then the namespace keeps what it has. (RD-8)
func (a *applier) replace(ctx context.Context, r Replacement) error {
	if err := a.copies.TryCreate(ctx, r.Create); err != nil {
		return a.failed(r.Create, v1alpha1.ResourceDistributionUpdateResourceFailed, err)
	}
	version, err := a.remove(ctx, r.Delete)
	if err != nil {
		return a.ended(r.Create, v1alpha1.ResourceDistributionUpdateResourceFailed, version, err)
	}
	return a.create(ctx, r.Create)
}

// delete deletes a copy that is not wanted any more. (RD-9)
func (a *applier) delete(ctx context.Context, c *Copy) error {
	version, err := a.remove(ctx, c)
	return a.ended(c, v1alpha1.ResourceDistributionDeleteResourceFailed, version, err)
}

// remove deletes an object, if nothing has become of it since: who takes a copy for his own keeps it. (RD-7)
func (a *applier) remove(ctx context.Context, c *Copy) (version string, err error) {
	return a.copies.DeleteUnchanged(ctx, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion}})
}

// findRival finds out who has changed a copy that is about to be put back. (RD-21)
func (a *applier) findRival(ctx context.Context, object Object) {
	if a.snapshot.Contests[object.GetNamespace()].Times < 2 {
		return
	}
	if live, err := a.read(ctx, object); err == nil { // without, it is another writer
		a.contests.ChangedBy(a.Key, object.GetNamespace(), apiwriter.LastManager(live))
	}
}

// ended takes note of how a write has ended.
func (a *applier) ended(object metav1.Object, t v1alpha1.ResourceDistributionConditionType, version string, err error) error {
	switch {
	case err == nil:
		if version != "" {
			a.Wrote(a.resource, version)
		}
		if t != v1alpha1.ResourceDistributionDeleteResourceFailed {
			a.contests.Wrote(a.Key, object.GetNamespace(), a.plan.template.content.fingerprint(), a.snapshot.Now)
		}
		return nil
	case apierrors.IsConflict(err):
		return err // planned on an old state: the next reconcile sees what it is
	case t == v1alpha1.ResourceDistributionCreateResourceFailed && (apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)):
		a.fail(object, v1alpha1.ResourceDistributionNamespaceNotExists, errNamespaceMissing)
		return nil // (RD-10)
	}
	return a.failed(object, t, a.Unanswered(a.resource, nameOf(object), err))
}

// failed takes note of a failure that is worth another try, and returns it.
func (a *applier) failed(object metav1.Object, t v1alpha1.ResourceDistributionConditionType, err error) error {
	a.fail(object, t, err)
	return fmt.Errorf("%s %s: %w", a.plan.template.kind, nameOf(object), err)
}

func (a *applier) fail(object metav1.Object, t v1alpha1.ResourceDistributionConditionType, err error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.failures = append(a.failures, Failure{object.GetNamespace(), t, err})
}

// status writes what has become of the plan. (RD-14)
func (a *applier) status(ctx context.Context) error {
	status := a.plan.Status(a.failures, a.snapshot.Now)
	observed := &a.snapshot.Distribution.Status
	if status == nil {
		controller.Measure(a.options.TargetMetrics, func(m TargetMetrics) { m.Counted(a.Key.Name, int(observed.Succeeded), int(observed.Failed)) })
		return nil
	}
	controller.Measure(a.options.TargetMetrics, func(m TargetMetrics) { m.Counted(a.Key.Name, int(status.Succeeded), int(status.Failed)) })
	if err := a.WriteStatus(ctx, observed, status); err != nil {
		return err
	}
	a.recordConditions(status.Conditions)
	return nil
}

// remember keeps the conflicts that were found for the next reconcile.
func (a *applier) remember() {
	known := conflicts{uid: a.snapshot.Distribution.UID, generation: a.snapshot.Distribution.Generation, found: maps.Clone(a.foreign)}
	for _, f := range a.plan.Failed {
		if f.Type == v1alpha1.ResourceDistributionConflictOccurred {
			known.found[f.Namespace] = a.snapshot.Conflicts[f.Namespace]
		}
	}
	a.conflicts.Set(a.Key, known)
}
