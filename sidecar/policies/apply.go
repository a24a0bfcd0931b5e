// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
)

// Reasons of events about SidecarSets.
const (
	// reasonFailedPolicy: no policy can inject what the SidecarSet has, or it is not known what
	// that is.
	reasonFailedPolicy = "FailedPolicy"
	// ReasonPolicyNameTaken: what has the name of its policy or binding belongs to another owner.
	ReasonPolicyNameTaken = "PolicyNameTaken"
)

// newWriter returns what a Reconciler remembers its writes and records events with.
func newWriter(o *Options) *apply.Writer {
	return &apply.Writer{Workloads: resourceSidecarSets, Recorder: o.Recorder, Clock: o.Clock}
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	plan *Plan
}

// apply does what the plan says, in the order in which no API server has a binding without
// its policy. (SPC-4)
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.SidecarSet), plan: plan}
	a.record()
	client := r.options.Kubernetes.AdmissionregistrationV1()
	policies, bindings := client.MutatingAdmissionPolicies(), client.MutatingAdmissionPolicyBindings()
	return 0, inTurn(
		func() error { return create(ctx, a, resourcePolicies, plan.CreatePolicy, policies.Create) },
		func() error { return update(ctx, a, resourcePolicies, s.Policy, plan.UpdatePolicy, policies.Update) },
		func() error { return create(ctx, a, resourceBindings, plan.CreateBinding, bindings.Create) },
		func() error { return update(ctx, a, resourceBindings, s.Binding, plan.UpdateBinding, bindings.Update) },
		func() error {
			return remove(ctx, a, &r.deletedBindings, resourceBindings, plan.DeleteBinding, bindings.Delete)
		},
		func() error {
			return remove(ctx, a, &r.deletedPolicies, resourcePolicies, plan.DeletePolicy, policies.Delete)
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

// put sends an object in the place of one that stands, or of none, with pauses if another writer changes or deletes it each time. (SPC-7, CT-12)
func put(a *applier, action apply.Action, resource podwright.Resource, standing, o apiwriter.Object, send func() (apiwriter.Object, error)) error {
	wanted, err := changed(standing, o)
	if err != nil {
		return fmt.Errorf("%s %s %s: %w", action, resource, o.GetName(), err)
	}
	return a.PutBack(contested(resource, o.GetName()), wanted, func() error {
		sent, err := send()
		if err != nil {
			return a.failed(action, resource, o.GetName(), err)
		}
		a.Wrote(resource, sent.GetResourceVersion())
		return nil
	})
}

// contested names an object for apply.Sync.PutBack.
func contested(resource podwright.Resource, name string) string {
	return fmt.Sprint(resource, " ", name)
}

// changed is what an object changes of the one that stands.
func changed(standing, o apiwriter.Object) (string, error) {
	is, err := asked(standing)
	if err != nil {
		return "", err
	}
	wanted, err := asked(o)
	if err != nil {
		return "", err
	}
	return apply.Changed(is, wanted)
}

// asked is what the controller asks for of an object: not what the API server adds.
func asked(o apiwriter.Object) ([]byte, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil || all == nil {
		return []byte("{}"), err
	}
	return json.Marshal(map[string]any{"annotations": o.GetAnnotations(), "owners": o.GetOwnerReferences(), "spec": all["spec"]})
}

// create creates an object, nil for none.
func create[T any, O object[T]](ctx context.Context, a *applier, resource podwright.Resource, o O, send func(context.Context, O, metav1.CreateOptions) (O, error)) error {
	if o == nil {
		return nil
	}
	return put(a, apply.Create, resource, nil, o, func() (apiwriter.Object, error) {
		created, err := send(ctx, o, metav1.CreateOptions{})
		if err == nil {
			a.Own.Created(a.Key, apiwriter.Creation{Resource: resource, Name: o.GetName(), Owner: a.Workload.GetUID()})
		}
		return created, err
	})
}

// update writes an object, nil for none.
func update[T any, O object[T]](ctx context.Context, a *applier, resource podwright.Resource, standing, o O, send func(context.Context, O, metav1.UpdateOptions) (O, error)) error {
	if o == nil {
		return nil
	}
	return put(a, apply.Update, resource, standing, o, func() (apiwriter.Object, error) { return send(ctx, o, metav1.UpdateOptions{}) })
}

// remove deletes an object, nil for none, if it is still this one. It does so once, though the
// cache may go on to show it: the answer does not say until when.
func remove[T any, O object[T]](ctx context.Context, a *applier, deleted *apiwriter.Last[types.UID], resource podwright.Resource, o O, send func(context.Context, string, metav1.DeleteOptions) error) error {
	if o == nil || deleted.Get(a.Key) == o.GetUID() {
		return nil
	}
	uid := o.GetUID()
	err := send(ctx, o.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return a.failed(apply.Delete, resource, o.GetName(), err)
	}
	deleted.Set(a.Key, uid)
	a.Own.Contests.Deleted(a.Key, contested(resource, o.GetName()))
	return nil
}

// failed remembers that a write may have been made if the API server did not say that it
// was not, and records an event. (SPC-11)
func (a *applier) failed(action apply.Action, resource podwright.Resource, name string, err error) error {
	err = fmt.Errorf("%s %s %s: %w", strings.ToLower(string(action)), resource, name, a.Unanswered(resource, name, err))
	a.RecordFailure(action, err)
	return err
}

// record records an event about what is wrong, when it begins.
func (a *applier) record() {
	failed := errors.Join(a.plan.Uncompiled, a.plan.Unrestored)
	if a.Begins(fmt.Sprint(reasonFailedPolicy, a.Workload.GetGeneration()), failed != nil) {
		message := "no policy injects what it has: %v"
		if a.plan.Unrestored != nil {
			message = "its policy stays unchanged: %v"
		}
		a.Event(corev1.EventTypeWarning, reasonFailedPolicy, message, failed)
	}
	taken := errors.Join(a.plan.Taken...)
	if a.Begins(ReasonPolicyNameTaken, taken != nil) {
		a.Event(corev1.EventTypeWarning, ReasonPolicyNameTaken, "%v", taken)
	}
}
