// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// apply applies the plan: at most one write. A ConfigMap that came or went
// since it was read is looked at again.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	r.report(ctx, s.Pod, rollout.ErrorOf(plan.Problems))
	switch {
	case plan.Create != nil:
		if err = r.create(ctx, s.Pod, plan.Create); apierrors.IsAlreadyExists(err) {
			return controller.StaleRetry, nil
		}
	case len(plan.Add) > 0:
		if err = r.add(ctx, s.ConfigMap, plan.Add); apierrors.IsNotFound(err) {
			return controller.StaleRetry, nil
		}
	}
	if err == nil && plan.Mark {
		err = r.mark(ctx, s.Pod)
	}
	if err != nil {
		if err = apply.WorthRetrying(err); err == nil {
			return 0, nil
		}
	}
	r.report(ctx, s.Pod, err)
	return plan.RequeueAfter, err
}

// report records an event that says why a pod cannot start.
func (r *reconciler) report(ctx context.Context, pod *corev1.Pod, problem error) {
	if problem == nil {
		return
	}
	klog.FromContext(ctx).Info("Containers cannot start", "reason", problem.Error())
	if r.writer.Recorder != nil {
		r.writer.Recorder.Event(pod, corev1.EventTypeWarning, "FailedLaunchContainers", problem.Error())
	}
}

func (r *reconciler) create(ctx context.Context, pod *corev1.Pod, configMap *corev1.ConfigMap) error {
	err := r.creations.Create(pod, func() error {
		_, err := r.options.Kubernetes.CoreV1().ConfigMaps(configMap.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("create ConfigMap %s: %w", configMap.Name, err)
	}
	return nil
}

// add adds keys to a ConfigMap, and to no other one of its name.
func (r *reconciler) add(ctx context.Context, to *corev1.ConfigMap, keys []string) error {
	data := map[string]string{}
	for _, key := range keys {
		data[key] = released
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": to.UID}, "data": data})
	if err != nil {
		return err
	}
	if _, err := r.options.Kubernetes.CoreV1().ConfigMaps(to.Namespace).Patch(ctx, to.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("add %q to ConfigMap %s: %w", keys, to.Name, err)
	}
	return nil
}

// mark notes on a pod that all of its keys are written. One that is gone needs no note. (LP-18)
func (r *reconciler) mark(ctx context.Context, pod *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": pod.UID, "annotations": map[string]string{lifecyclev1alpha1.LaunchPriorityCompletedAnnotation: "true"}}})
	if err != nil {
		return err
	}
	_, err = r.options.Kubernetes.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
	if err != nil && !apply.Gone(err) {
		return fmt.Errorf("annotate pod %s: %w", pod.Name, err)
	}
	return nil
}
