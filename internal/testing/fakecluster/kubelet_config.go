// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unconfigured names the containers that cannot be created: their environment
// refers to a key of a ConfigMap that is not there.
func (k *Kubelet) unconfigured(ctx context.Context, pod *corev1.Pod) (map[string]bool, error) {
	names := map[string]bool{}
	for _, c := range pod.Spec.Containers {
		for _, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.ConfigMapKeyRef == nil {
				continue
			}
			found, err := k.hasKey(ctx, pod.Namespace, e.ValueFrom.ConfigMapKeyRef)
			if err != nil {
				return nil, err
			}
			names[c.Name] = names[c.Name] || !found
		}
	}
	return names, nil
}

func (k *Kubelet) hasKey(ctx context.Context, namespace string, ref *corev1.ConfigMapKeySelector) (bool, error) {
	if ref.Optional != nil && *ref.Optional {
		return true, nil
	}
	configMap, err := k.Client.CoreV1().ConfigMaps(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, found := configMap.Data[ref.Key]
	return found, nil
}

// waiting is the status of a container that cannot be created, or not again
// with another image.
func waiting(was corev1.ContainerStatus, c *corev1.Container, reason string) corev1.ContainerStatus {
	if was.ContainerID == "" {
		was.Name, was.Image = c.Name, c.Image
	}
	was.Ready = false
	was.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
	return was
}
