// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TrimPod is a transform for an informer that only a Webhook reads, as Webhook.Pods. Of a pod it keeps what decides
// whether it may be evicted, so that every replica can have such a cache. Other objects stay as they are; it never fails.
func TrimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := caches.Outline(pod, v1alpha1.RelatedPubAnnotation, v1alpha1.PodPubNoProtectionAnnotation, lifecyclev1alpha1.EvictionDeniedAnnotation)
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			kept.Status.Conditions = []corev1.PodCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return kept, nil
}
