// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
)

// awaitPods waits for pods with labels, unless there are none, until all are as wanted.
func (w *world) awaitPods(ctx context.Context, labels map[string]string, wanted func(corev1.Pod) bool) error {
	if labels == nil {
		return nil
	}
	selector := metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})
	list := &corev1.PodList{}
	err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		now, err := w.kube.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false, err
		}
		list = now
		return len(list.Items) > 0 && !slices.ContainsFunc(list.Items, func(p corev1.Pod) bool { return !wanted(p) }), nil
	})
	if err != nil {
		return fmt.Errorf("pods %s are not as wanted: %w\n%s", selector, err, describePods(list))
	}
	return nil
}

// describePods returns pods as JSON, one a line, without the record of who manages which field.
func describePods(list *corev1.PodList) string {
	var all strings.Builder
	for i := range list.Items {
		list.Items[i].ManagedFields = nil
		pod, err := json.Marshal(list.Items[i])
		fmt.Fprintln(&all, string(pod), err)
	}
	return all.String()
}

// protected tells whether a pod names a budget and is ready: the budget counts no others.
func protected(p corev1.Pod) bool {
	return p.Annotations[availabilityv1alpha1.RelatedPubAnnotation] != "" &&
		slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// runs tells whether a pod runs the images that the template of the step's last object names. Then no update of an image is on its
// way, which would replace what is reported.
func runs(s step) func(corev1.Pod) bool {
	return func(p corev1.Pod) bool {
		var workload struct {
			Spec struct {
				Template corev1.PodTemplateSpec `json:"template"`
			} `json:"spec"`
		}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.Objects[len(s.Objects)-1], &workload)
		return err == nil && slices.EqualFunc(workload.Spec.Template.Spec.Containers, p.Status.ContainerStatuses,
			func(c corev1.Container, status corev1.ContainerStatus) bool {
				return c.Name == status.Name && c.Image == status.Image && status.State.Running != nil
			})
	}
}

// keepReporting reports until the context ends. A report that fails is made again. Simulated kubelets take back what is reported
// whenever they write a status.
func (w *world) keepReporting(ctx context.Context, labels map[string]string) {
	if labels != nil {
		wait.UntilWithContext(ctx, func(ctx context.Context) { _ = w.report(ctx, labels) }, 200*time.Millisecond)
	}
}

// report plays the kubelets of pods with labels, unless there are none: each container has the resources of its spec. Simulated
// kubelets do not say so.
func (w *world) report(ctx context.Context, labels map[string]string) error {
	if labels == nil {
		return nil
	}
	pods, err := w.kube.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		err = errors.Join(err, w.reportOf(ctx, &pods.Items[i]))
	}
	return err
}

func (w *world) reportOf(ctx context.Context, pod *corev1.Pod) error {
	var reports []any
	for c := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[c]
		at := slices.IndexFunc(pod.Spec.Containers, func(of corev1.Container) bool { return of.Name == status.Name })
		if at < 0 {
			continue
		}
		if has := &pod.Spec.Containers[at].Resources; !equality.Semantic.DeepEqual(status.Resources, has) {
			reports = append(reports, map[string]any{"name": status.Name, "resources": has})
		}
	}
	if len(reports) == 0 {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"containerStatuses": reports}})
	if err == nil {
		_, err = w.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	return err
}
