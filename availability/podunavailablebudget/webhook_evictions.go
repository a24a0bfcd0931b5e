// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/workload"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// noteAgain is how old a note on a pod becomes before it is renewed: drains ask every few
// seconds.
const noteAgain = time.Minute

// note notes on a pod that its eviction was denied, so that a CloneSet can make room for it. If
// that fails the next request does it: the client that was told to try again will. (PUB-31)
func (w *Webhook) note(ctx context.Context, pod *corev1.Pod) {
	now := w.Guard.options.Clock.Now()
	if !makesRoom(pod) || lifecycle.AwaitsEviction(pod, now) > lifecycle.EvictionAwaited-noteAgain {
		return
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "annotations": map[string]string{
		lifecyclev1alpha1.EvictionDeniedAnnotation: now.UTC().Format(time.RFC3339)}}})
	if err == nil {
		_, err = w.Kubernetes.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "Not noted that the eviction of a pod was denied", "pod", klog.KObj(pod))
	}
}

// makesRoom tells whether the workload of a pod may create another one before it goes.
func makesRoom(pod *corev1.Pod) bool { return workload.ControllerKind(pod) == workload.CloneSets }
