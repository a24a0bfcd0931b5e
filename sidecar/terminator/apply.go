// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// PodMetrics receives how soon pods end whose sidecars were terminated. Implementations
// must be safe for use by several goroutines.
type PodMetrics interface {
	// Ended is called once for a pod that has ended, with the time since the last of
	// its main containers has. That is by the clock of its node, in whole seconds.
	// Pods that end while no controller runs are left out.
	Ended(mainExitToComplete time.Duration)
}

// newWriter returns what a Reconciler writes and records events with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder = resourcePods, o.Recorder
	return w
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*reconciler
	*apply.Sync
	snapshot *Snapshot
	plan     *Plan
}

// apply does what the plan says, as far as the writes succeed. (ST-8)
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := &applier{reconciler: r, Sync: r.writer.Begin(s.Pod), snapshot: s, plan: plan}
	a.measure()
	for _, step := range []func(context.Context) error{a.replaceImages, a.writePhase, a.create} {
		if err := step(ctx); err != nil {
			return 0, apply.WorthRetrying(err)
		}
	}
	return plan.RequeueAfter, nil
}

// measure measures how long a pod took to end, once and only if it was helped. (ST-17)
func (a *applier) measure() {
	if a.plan.Took > 0 && a.acted.Get(a.Key) == a.snapshot.Pod.UID {
		a.acted.Forget(a.Key)
		controller.Measure(a.options.PodMetrics, func(m PodMetrics) { m.Ended(a.plan.Took) })
	}
}

// did remembers that something was written for the pod. One that was given its phase before
// is measured by then. (ST-17)
func (a *applier) did() {
	if phaseGiven(a.snapshot.Pod) == nil {
		a.acted.Set(a.Key, a.snapshot.Pod.UID)
	}
}

// replaceImages sets the images that sidecars exit with, all by one patch. (ST-10)
func (a *applier) replaceImages(ctx context.Context) error {
	patch := podpatch.Patch{Images: a.plan.Images}
	writes, err := patch.Writes(a.snapshot.Pod)
	if err != nil {
		return err
	}
	for _, w := range writes {
		err := a.WritePod(ctx, a.snapshot.Pod, w, "replace images")
		a.record(a.plan.replaced(), v1alpha1.SidecarTerminatorByImage, err)
		if err != nil {
			return err
		}
		a.did()
	}
	return nil
}

// create creates the request. One that has the name already was created meanwhile, and
// the cache will show it. One that is refused since the pod has its phase is not needed: the
// kubelet ends the sidecars. (ST-11, ST-15.3)
func (a *applier) create(ctx context.Context) error {
	request := a.plan.Create
	if request == nil {
		return nil
	}
	err := a.creations.Create(a.snapshot.Pod, func() error {
		created, err := a.options.Lifecycle.ContainerRecreateRequests(request.Namespace).Create(ctx, request, metav1.CreateOptions{})
		if err == nil {
			a.Wrote(resourceRequests, created.ResourceVersion)
			a.Own.Created(a.Key, apiwriter.Creation{Resource: resourceRequests, Name: request.Name, Owner: a.snapshot.Pod.UID})
			a.did()
		}
		return err
	})
	if apierrors.IsAlreadyExists(err) {
		a.Own.Lost(a.Key, resourceRequests, request.Name) // until a cache shows it
		return fmt.Errorf("create ContainerRecreateRequest %s: %w", request.Name, err)
	}
	ended := a.plan.Phase != "" || podstate.Ended(a.snapshot.Pod)
	if ended && (apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err)) {
		return nil
	}
	a.record(a.plan.requested(), v1alpha1.SidecarTerminatorByRequest, err)
	if err != nil {
		return fmt.Errorf("create ContainerRecreateRequest %s: %w", request.Name, a.Unanswered(resourceRequests, request.Name, err))
	}
	return nil
}

// writePhase writes the phase of the pod, if that has not changed since: the kubelet may
// have come to another one. (ST-16)
//
// A kubelet does not act on a change of the status alone, and some seconds later writes
// its own status over it. An annotation that changes has it act at once. (ST-13.1)
func (a *applier) writePhase(ctx context.Context) error {
	if a.plan.Phase == "" {
		return nil
	}
	since := metav1.NewTime(a.snapshot.Now)
	if given := phaseGiven(a.snapshot.Pod); given != nil {
		since = given.LastTransitionTime // the wait for the kubelet goes on (ST-15.2)
	}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": a.snapshot.Pod.UID, "resourceVersion": a.Version, "annotations": map[string]string{
			v1alpha1.SidecarPhaseWrittenAnnotation: a.snapshot.Now.UTC().Format(time.RFC3339Nano),
		}},
		"status": map[string]any{"phase": a.plan.Phase, "conditions": []corev1.PodCondition{{
			Type: v1alpha1.SidecarTerminatedCondition, Status: corev1.ConditionTrue, Reason: "MainContainersFinished",
			Message: a.plan.PhaseReason, LastTransitionTime: since,
		}}},
	})
	if err != nil {
		return err
	}
	if err := a.WritePod(ctx, a.snapshot.Pod, podpatch.Write{Subresource: "status", Data: data}, "write the phase"); err != nil {
		a.RecordFailure(apply.UpdateStatus, err)
		return err
	}
	a.did()
	return nil
}

// record records an event that says which sidecars are told to end, and how; or why they
// could not be told.
func (a *applier) record(sidecars []string, how string, err error) {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		a.Event(corev1.EventTypeNormal, v1alpha1.SidecarTerminatorEvent, v1alpha1.SidecarTerminatorEventFormat, sidecars, how)
	case errors.As(err, &status) && !apierrors.IsConflict(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		a.Event(corev1.EventTypeWarning, v1alpha1.FailedTerminateSidecarEvent, "terminate sidecar %v using %s: %v", sidecars, how, err)
	}
}
