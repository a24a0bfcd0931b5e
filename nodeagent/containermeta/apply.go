// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/nodeagent/internal/stop"
)

// report applies the part of a plan that reports.
func (r *reconciler) report(ctx context.Context, s *Snapshot, plan *Plan) (time.Duration, error) {
	key := cache.MetaObjectToName(s.Pod).AsNamespacedName()
	if !reportDue(s.Pod, r.options.Features) { // it is for a restart
		r.failed.Forget(key)
		return 0, nil
	}
	r.rememberFailed(ctx, key, s)
	logger := klog.FromContext(ctx)
	for _, waiting := range plan.Waiting {
		logger.V(4).Info("Waiting", "what", waiting.Subject.String(), "reason", waiting.Reason.String())
	}
	if plan.Report == nil {
		return plan.RequeueAfter, nil
	}
	data, err := reportPatch(s.Pod, plan.Report)
	if err != nil {
		return 0, err
	}
	err = r.writer.Own.Contests.PutBack(apiwriter.Write{Owner: key, Object: "pods/status", Wanted: string(data),
		Send: func() error { return r.send(ctx, key, s, data) },
		Tell: apiwriter.Warn(r.options.Recorder, s.Pod)}, r.options.Clock.Now)
	if err == nil {
		logger.V(2).Info("Reported", "containers", len(plan.Report.Containers))
	}
	return plan.RequeueAfter, err
}

// send patches the pod with a report. One that is gone needs none.
func (r *reconciler) send(ctx context.Context, key types.NamespacedName, s *Snapshot, data []byte) error {
	version, err := r.pods.Patch(ctx, s.Pod, "status", types.StrategicMergePatchType, data)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("report the containers of pod %s: %w", key, err)
		if !apierrors.IsConflict(err) {
			apiwriter.Warn(r.options.Recorder, s.Pod)("FailedUpdateStatus", apiwriter.Short(err.Error())) // (CT-11)
		}
		return err
	}
	r.writer.Own.Wrote(key, resourcePods, version)
	return nil
}

// reportPatch is a strategic-merge patch of a pod's status. It names the UID, so
// that it cannot hit another pod of the same name.
func reportPatch(pod *corev1.Pod, meta *inplacev1alpha1.RuntimeContainersMeta) ([]byte, error) {
	value, err := json.Marshal(meta)
	if err != nil {
		return nil, fmt.Errorf("encode the containers of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         pod.UID,
		"annotations": map[string]string{inplacev1alpha1.RuntimeContainersMetaAnnotation: string(value)},
	}})
}

// recordAfter is the number of failures to read an environment after which an event
// of that is recorded, once per container.
const recordAfter = 2

// rememberFailed keeps the environments that could not be read, so that they are
// not tried again before their time, and records events of them.
func (r *reconciler) rememberFailed(ctx context.Context, key types.NamespacedName, s *Snapshot) {
	failed, before := map[string]Environment{}, r.failed.Get(key)
	for id, env := range s.Environments {
		c := s.containerOf(id)
		if env.Err == nil || c == nil {
			continue
		}
		failed[id] = env
		if env.Failures != recordAfter || before[id].Failures == recordAfter {
			continue
		}
		name := c.GetMetadata().GetName()
		klog.FromContext(ctx).Info("Cannot read the environment of a container; it is tried again less and less often", "container", name, "reason", env.Err.Error())
		if r.options.Recorder != nil {
			r.options.Recorder.Eventf(s.Pod, corev1.EventTypeWarning, "FailedReadEnvironment",
				"the environment of container %s is not known, so an in-place update of it by labels or annotations cannot complete: %v", name, env.Err)
		}
	}
	if len(failed) == 0 {
		r.failed.Forget(key)
		return
	}
	r.failed.Set(key, failed)
}

// stopOutdated applies the part of a plan that restarts.
func (r *reconciler) stopOutdated(ctx context.Context, key types.NamespacedName, s *Snapshot, plan *Plan) (time.Duration, error) {
	attempts := map[string]Attempt{}
	for _, id := range plan.Outdated {
		attempts[id] = Attempt{Last: s.Now}
		if tried, known := s.Attempts[id]; known {
			attempts[id] = tried
		}
	}
	stopped := make([]Attempt, len(plan.Restarts))
	err := apiwriter.Each(ctx, len(plan.Restarts), len(plan.Restarts), func(i int) error {
		restart := plan.Restarts[i]
		err := r.stop(ctx, s, restart)
		stopped[i] = Attempt{Count: attempts[restart.ID].Count + 1, Last: r.options.Clock.Now()}
		return err
	})
	after := plan.RequeueAfter
	for i, restart := range plan.Restarts {
		attempts[restart.ID] = stopped[i]
		if again := retryAfter(stopped[i].Count); after == 0 || again < after {
			after = again
		}
	}
	r.attempts.Set(key, maps.Clone(attempts))
	if err != nil {
		return 0, fmt.Errorf("restart containers of pod %s: %w", key, err)
	}
	return after, nil
}

// stop stops a container. The kubelet starts it again.
func (r *reconciler) stop(ctx context.Context, s *Snapshot, restart Restart) error {
	request, err := stop.Known(s.containerOf(restart.ID))
	logger := klog.FromContext(ctx).WithValues("container", restart.Container)
	if err != nil {
		logger.Error(err, "Stopping a container without what is not readable of its hook and its grace period")
	}
	request.PodIP = s.Pod.Status.PodIP
	request.Pod.FieldPath = "implicitly required container " + restart.Container
	logger.Info("Stopping a container, since its environment comes from labels or annotations that have changed", "id", restart.ID, "graceSeconds", request.GraceSeconds)
	return r.stopper.Stop(ctx, &request, s.killing(restart))
}
