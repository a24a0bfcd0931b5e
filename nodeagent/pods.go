// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/typedclient"
)

// NewPodInformer returns an informer of the pods of one node, which the features
// of a node agent share. It keeps of a pod what they read: see Trim. The caller
// runs it.
func NewPodInformer(client kubernetes.Interface, node string) cache.SharedIndexInformer {
	ofNode := fields.OneTermEqualSelector("spec.nodeName", node).String()
	pods := typedclient.Select(client.CoreV1().Pods(metav1.NamespaceAll), func(o *metav1.ListOptions) { o.FieldSelector = ofNode })
	informer := typedclient.NewInformer(pods, listing{client}, &corev1.Pod{}, 0, nil)
	_ = informer.SetTransform(Trim) // fails only once it runs
	return informer
}

// Trim drops from a pod, before it enters a cache, what the features of a node agent
// do not read. It is a cache.TransformFunc; other objects stay as they are.
//
// What stays: all metadata but managed fields. Of the spec stay the node, and of each
// container its name, its image and its variables. Values that are written out go, since
// they may be secrets. Of the status stay the phase, the conditions, the address, and of each
// container its name, its ID, its restarts and whether it is ready. A feature that reads
// more needs an informer of its own.
func Trim(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	pod.ManagedFields = nil
	spec, status := &pod.Spec, &pod.Status
	pod.Spec = corev1.PodSpec{NodeName: spec.NodeName, Containers: trimContainers(spec.Containers)}
	pod.Status = corev1.PodStatus{
		Phase: status.Phase, Conditions: status.Conditions, PodIP: status.PodIP, ContainerStatuses: trimStatuses(status.ContainerStatuses),
	}
	return pod, nil
}

func trimContainers(all []corev1.Container) []corev1.Container {
	out := make([]corev1.Container, len(all))
	for i := range all {
		env := all[i].Env
		for j := range env {
			if env[j].ValueFrom == nil {
				env[j].Value = ""
			}
		}
		out[i] = corev1.Container{Name: all[i].Name, Image: all[i].Image, Env: env}
	}
	return out
}

func trimStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	if all == nil {
		return nil
	}
	out := make([]corev1.ContainerStatus, len(all))
	for i := range all {
		of := &all[i]
		out[i] = corev1.ContainerStatus{Name: of.Name, ContainerID: of.ContainerID, RestartCount: of.RestartCount, Ready: of.Ready}
	}
	return out
}
