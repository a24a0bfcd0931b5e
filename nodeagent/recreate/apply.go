// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// apply applies the plan, but for its answers: the write, and only when that
// is made, the stop.
func (r *reconciler) apply(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	for _, w := range plan.Waiting {
		klog.FromContext(ctx).V(4).Info("Waiting", "what", w.Subject.String(), "reason", w.Reason.String())
	}
	if plan.Stop != nil && plan.Stop.Announce != "" {
		version, err := r.announce(ctx, key, s.chosen(), plan.Stop.Announce)
		if after, settled := outdated(err); settled {
			return after, nil
		}
		if err != nil {
			return 0, err
		}
		plan = plan.after(version)
	}
	if plan.Write != nil {
		err := r.write(ctx, &r.writer.Own, key, plan.Write)
		if after, settled := outdated(err); settled {
			return after, nil
		}
		if err != nil {
			return 0, err
		}
	}
	switch {
	case s.RuntimeErr != nil && (plan.Write == nil || plan.Write.Status.CompletionTime == nil):
		return 0, s.RuntimeErr
	case plan.Stop != nil:
		return 0, r.stop(ctx, key, s, plan.Stop)
	}
	return plan.RequeueAfter, nil
}

// answer applies the answers of a plan. If one fails, the others are applied all
// the same.
func (r *reconciler) answer(ctx context.Context, key types.NamespacedName, answers []Write) (requeueAfter time.Duration, err error) {
	var errs []error
	for i := range answers {
		err := r.write(ctx, &r.answers, key, &answers[i])
		if after, settled := outdated(err); settled {
			requeueAfter = max(requeueAfter, after)
			continue
		}
		errs = append(errs, err)
	}
	return r.answers.Contests.After(key, r.options.Clock.Now(), requeueAfter, errors.Join(errs...))
}

// outdated tells of the error of a write whether it came about because the cache is
// behind. Then the request is gone, or another writer has changed it. When the cache
// shows that, the pod is enqueued. The reconcile after a time is for what was not
// foreseen.
func outdated(err error) (requeueAfter time.Duration, is bool) {
	switch {
	case apierrors.IsNotFound(err):
		return 0, true
	case apierrors.IsConflict(err) && !apiwriter.OnlyContested(err):
		return controller.FirstNodeRetry, true
	}
	return 0, false
}

// write writes a status, with pauses if another writer takes it back (CT-12). It is refused if the request has changed: it may have
// been completed meanwhile, and must not be worked on then.
func (r *reconciler) write(ctx context.Context, writes *apiwriter.Store, key types.NamespacedName, w *Write) error {
	difference, err := apply.Difference(&w.Request.Status, &w.Status, false)
	if err != nil {
		return err
	}
	return writes.Contests.PutBack(apiwriter.Write{Owner: key, Object: "ContainerRecreateRequest " + w.Request.Name, Wanted: difference,
		Send: func() error {
			klog.FromContext(ctx).V(2).Info("Writing a status", "request", w.Request.Name, "phase", w.Status.Phase, "reason", w.Why)
			return r.patch(ctx, writes, key, w.Request, map[string]any{
				"metadata": map[string]any{"uid": w.Request.UID, "resourceVersion": w.Request.ResourceVersion},
				"status":   w.status(),
			})
		},
		Tell: apiwriter.Warn(r.options.Recorder, w.Request)}, r.options.Clock.Now)
}

// status is the status of a merge patch, which takes back a message that is there no more.
func (w *Write) status() any {
	if w.Status.Message != "" || w.Request.Status.Message == "" {
		return w.Status
	}
	return struct {
		*v1alpha1.ContainerRecreateRequestStatus
		Message *string `json:"message"`
	}{w.Status, nil}
}

// patch patches the status of a request. A merge patch replaces the whole list of
// containers.
func (r *reconciler) patch(ctx context.Context, writes *apiwriter.Store, key types.NamespacedName, request *v1alpha1.ContainerRecreateRequest, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the status of ContainerRecreateRequest %s: %w", request.Name, err)
	}
	patched, err := r.options.Lifecycle.ContainerRecreateRequests(request.Namespace).Patch(ctx, request.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if err != nil {
		err = fmt.Errorf("write the status of ContainerRecreateRequest %s/%s: %w", request.Namespace, request.Name, err)
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			apiwriter.Warn(r.options.Recorder, request)("FailedUpdateStatus", apiwriter.Short(err.Error())) // (CT-11)
		}
		return err
	}
	writes.Wrote(key, resourceRequests, patched.ResourceVersion)
	return nil
}

// announce writes down which container is going to be stopped, and returns the version of
// the request after that. An agent with the RBAC rules of OpenKruise's agent must not
// write it, and does without. If it ends between the stop and its next start, it stops
// the new container too.
func (r *reconciler) announce(ctx context.Context, key types.NamespacedName, request *v1alpha1.ContainerRecreateRequest, id string) (version string, err error) {
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": request.UID, "resourceVersion": request.ResourceVersion,
		"annotations": map[string]any{v1alpha1.ContainerRecreateRequestStoppingAnnotation: id},
	}})
	if err != nil {
		return "", fmt.Errorf("encode the annotation of ContainerRecreateRequest %s: %w", request.Name, err)
	}
	patched, err := r.options.Lifecycle.ContainerRecreateRequests(request.Namespace).Patch(ctx, request.Name, types.MergePatchType, data, metav1.PatchOptions{})
	if apierrors.IsForbidden(err) {
		klog.FromContext(ctx).V(2).Info("Cannot write down which container is going to be stopped", "request", request.Name, "err", err)
		return request.ResourceVersion, nil
	}
	if err != nil {
		return "", fmt.Errorf("annotate ContainerRecreateRequest %s/%s: %w", request.Namespace, request.Name, err)
	}
	r.writer.Own.Wrote(key, resourceRequests, patched.ResourceVersion)
	return patched.ResourceVersion, nil
}

// stop stops a container. The kubelet starts it again. Should the request be over
// before, nothing waits for the container any more, and the agent does not kill it. (CRR-5.5)
func (r *reconciler) stop(ctx context.Context, key types.NamespacedName, s *Snapshot, what *Stop) error {
	request := s.chosen()
	toStop, err := s.toStop(what)
	logger := klog.FromContext(ctx).WithValues("request", request.Name, "container", what.Container, "id", what.ID)
	if err != nil {
		logger.Error(err, "Stopping a container without what is not readable of its hook")
	}
	logger.Info("Stopping a container", "graceSeconds", toStop.GraceSeconds)
	waiting, end := r.underway.begin(ctx, key, request.UID)
	defer end()
	requests, err := r.requests(key)
	if err != nil {
		return err
	}
	r.underway.check(key, requests) // callers before have not seen this wait
	if waiting.Err() != nil {
		return nil
	}
	err = r.stopper.Stop(waiting, toStop, fmt.Sprintf(v1alpha1.ContainerRecreateEventKillingFormat, what.Container, request.Name))
	switch {
	case err == nil && waiting.Err() == nil:
		return r.writeState(ctx, key, s, state{Name: what.Container, Phase: v1alpha1.ContainerRecreateRequestRecreating, IsKilled: true})
	case ctx.Err() == nil && errors.Is(context.Cause(waiting), errOver):
		logger.Info("Waiting no longer for the end of a container, because the request is completed or gone")
		return nil
	case ctx.Err() != nil || nodeagent.Unavailable(err):
		// The agent ends, or the runtime is restarted. The container is stopped
		// once both are back.
		return fmt.Errorf("stop container %s of pod %s: %w", what.Container, key, err)
	}
	logger.Error(err, "Cannot stop a container")
	return r.writeState(ctx, key, s, state{
		Name: what.Container, Phase: v1alpha1.ContainerRecreateRequestFailed,
		Message: fmt.Sprintf("%s: %v", v1alpha1.ContainerRecreateStateMessageKillFailed, err),
	})
}

// writeState writes down how the stop of a container has ended. It touches nothing but
// the states, so it cannot hurt a request that was completed meanwhile. (CRR-5.3.7)
func (r *reconciler) writeState(ctx context.Context, key types.NamespacedName, s *Snapshot, stopped state) error {
	plan := NewPlan(s)
	states := s.chosen().Status.ContainerRecreateStates
	if plan.Write != nil {
		states = plan.Write.Status.ContainerRecreateStates
	}
	states = append([]state(nil), states...)
	for i := range states {
		if states[i].Name == stopped.Name {
			states[i] = stopped
		}
	}
	err := r.patch(ctx, &r.writer.Own, key, s.chosen(), map[string]any{
		"metadata": map[string]any{"uid": s.chosen().UID},
		"status":   map[string]any{"containerRecreateStates": states},
	})
	if _, settled := outdated(err); settled {
		return nil
	}
	return err
}

// toStop says how to stop a container. The grace period is the request's. All else is
// what the kubelet wrote down when it created the container, and nothing that stands in
// the request. A user who may create a request need not be one who may run commands in
// the pod. The error names what is not readable and is left out. (CRR-5.5.2, CRR-5.5.3)
func (s *Snapshot) toStop(what *Stop) (*stop.Request, error) {
	var container *criv1.Container
	for _, c := range s.Containers {
		if c.GetId() == what.ID {
			container = c
		}
	}
	out, err := stop.Known(container)
	out.Pod.FieldPath = fmt.Sprintf("spec.containers{%s}", what.Container)
	out.GraceSeconds = v1alpha1.DefaultContainerRecreateGracePeriodSeconds
	if strategy := s.chosen().Spec.Strategy; strategy != nil && strategy.TerminationGracePeriodSeconds != nil {
		out.GraceSeconds = *strategy.TerminationGracePeriodSeconds
	}
	return &out, err
}
