// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
)

// Reasons of events about SidecarSets.
const (
	// ReasonFailedPolicy: no policy can inject what the SidecarSet has, or nobody knows what
	// that is.
	ReasonFailedPolicy = "FailedPolicy"
	// ReasonPolicyNameTaken: what has the name of its policy or binding is somebody else's.
	ReasonPolicyNameTaken = "PolicyNameTaken"
)

// newWriter returns what a Reconciler remembers its writes and records events with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{Workloads: resourceSidecarSets, Recorder: o.Recorder}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*Reconciler
	*apply.Sync
	plan *Plan
}

// apply does what the plan says, in the order in which no API server has a binding without
// its policy. (SPC-4)
func (r *Reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{Reconciler: r, Sync: r.writer.Begin(s.SidecarSet), plan: plan}
	a.record()
	client := r.options.Kubernetes.AdmissionregistrationV1()
	policies, bindings := client.MutatingAdmissionPolicies(), client.MutatingAdmissionPolicyBindings()
	return 0, inTurn(
		func() error { return create(ctx, a, ResourcePolicies, plan.CreatePolicy, policies.Create) },
		func() error { return update(ctx, a, ResourcePolicies, plan.UpdatePolicy, policies.Update) },
		func() error { return create(ctx, a, ResourceBindings, plan.CreateBinding, bindings.Create) },
		func() error { return update(ctx, a, ResourceBindings, plan.UpdateBinding, bindings.Update) },
		func() error {
			return remove(ctx, a, &r.deletedBindings, ResourceBindings, plan.DeleteBinding, bindings.Delete)
		},
		func() error {
			return remove(ctx, a, &r.deletedPolicies, ResourcePolicies, plan.DeletePolicy, policies.Delete)
		},
	)
}

// inTurn does one thing after the other, up to the first error.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// object is a pointer to a policy or a binding.
type object[T any] interface {
	*T
	apiwriter.Object
}

// create creates an object, nil for none.
func create[T any, O object[T]](ctx context.Context, a *applier, resource Resource, o O, send func(context.Context, O, metav1.CreateOptions) (O, error)) error {
	if o == nil {
		return nil
	}
	created, err := send(ctx, o, metav1.CreateOptions{})
	if err != nil {
		return a.failed("create", resource, o.GetName(), err)
	}
	a.Wrote(resource, created.GetResourceVersion())
	a.Own.Created(a.Key, apiwriter.Creation{Resource: resource, Name: o.GetName(), Owner: a.Workload.GetUID()})
	return nil
}

// update writes an object, nil for none.
func update[T any, O object[T]](ctx context.Context, a *applier, resource Resource, o O, send func(context.Context, O, metav1.UpdateOptions) (O, error)) error {
	if o == nil {
		return nil
	}
	updated, err := send(ctx, o, metav1.UpdateOptions{})
	if err != nil {
		return a.failed("update", resource, o.GetName(), err)
	}
	a.Wrote(resource, updated.GetResourceVersion())
	return nil
}

// remove deletes an object, nil for none, if it is still this one. It does so once, though the
// cache may go on to show it: the answer does not say until when.
func remove[T any, O object[T]](ctx context.Context, a *applier, deleted *apiwriter.Last[types.UID], resource Resource, o O, send func(context.Context, string, metav1.DeleteOptions) error) error {
	if o == nil || deleted.Get(a.Key) == o.GetUID() {
		return nil
	}
	uid := o.GetUID()
	err := send(ctx, o.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s %s: %w", resource, o.GetName(), err)
	}
	deleted.Set(a.Key, uid)
	return nil
}

// failed remembers that a write may have been made where the API server did not say that it
// was not.
func (a *applier) failed(verb string, resource Resource, name string, err error) error {
	return fmt.Errorf("%s %s %s: %w", verb, resource, name, a.Unanswered(resource, name, err))
}

// record records an event about what is wrong, when it begins.
func (a *applier) record() {
	failed := errors.Join(a.plan.Uncompiled, a.plan.Unrestored)
	if a.Begins(fmt.Sprint(ReasonFailedPolicy, a.Workload.GetGeneration()), failed != nil) {
		message := "no policy injects what it has: %v"
		if a.plan.Unrestored != nil {
			message = "its policy stays unchanged: %v"
		}
		a.Event(corev1.EventTypeWarning, ReasonFailedPolicy, message, failed)
	}
	taken := errors.Join(a.plan.Taken...)
	if a.Begins(ReasonPolicyNameTaken, taken != nil) {
		a.Event(corev1.EventTypeWarning, ReasonPolicyNameTaken, "%v", taken)
	}
}
