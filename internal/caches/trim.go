// SPDX-License-Identifier: Apache-2.0

package caches

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trim drops from an object, before it enters a cache of podwright's own, what no
// kind declares to read and no plan to come needs: see workloads.Trim, which lists
// it.
func Trim(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	switch object := obj.(type) {
	case *corev1.Pod:
		trimPod(object)
	case *corev1.Node:
		object.Status.Images, object.Status.VolumesInUse, object.Status.VolumesAttached = nil, nil, nil
	case *appsv1.Deployment:
		object.Annotations, object.Spec.Template = nil, corev1.PodTemplateSpec{}
	case *appsv1.ReplicaSet:
		object.Annotations, object.Spec.Template = deploymentRevision(object), corev1.PodTemplateSpec{}
	case *appsv1.StatefulSet:
		object.Annotations, object.Spec.Template, object.Spec.VolumeClaimTemplates = nil, corev1.PodTemplateSpec{}, nil
	case *corev1.ReplicationController:
		object.Annotations, object.Spec.Template = nil, nil
	}
	return obj, nil
}

// trimPod keeps containers as they are: hashes are computed over them. Node selector, affinity,
// tolerations and volumes stay for kinds that place pods or inject into them.
func trimPod(pod *corev1.Pod) {
	pod.Spec.TopologySpreadConstraints = nil
	pod.Spec.HostAliases, pod.Spec.DNSConfig, pod.Spec.ImagePullSecrets = nil, nil, nil
	pod.Status.HostIPs, pod.Status.PodIPs = nil, nil
}

// DeploymentRevision is the annotation of a ReplicaSet by which the latest one of a Deployment is
// known.
const DeploymentRevision = "deployment.kubernetes.io/revision"

// deploymentRevision is what is left of the annotations of a ReplicaSet.
func deploymentRevision(rs *appsv1.ReplicaSet) map[string]string {
	revision, found := rs.Annotations[DeploymentRevision]
	if !found {
		return nil
	}
	return map[string]string{DeploymentRevision: revision}
}
