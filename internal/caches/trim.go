package caches

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Trim drops from an object, before it enters a cache of podwright's own, what
// no controller of podwright reads: managed fields; of pods what only scheduler
// and kubelet need, and of their volumes all but the claims; of nodes images and
// volumes. That is half of a pod.
func Trim(obj any) (any, error) {
	if object, ok := obj.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	switch object := obj.(type) {
	case *corev1.Pod:
		trimPod(object)
	case *corev1.Node:
		object.Status.Images, object.Status.VolumesInUse, object.Status.VolumesAttached = nil, nil, nil
	}
	return obj, nil
}

// trimPod keeps containers as they are: hashes are computed over them.
func trimPod(pod *corev1.Pod) {
	pod.Spec.Volumes = claimVolumes(pod.Spec.Volumes)
	pod.Spec.Tolerations, pod.Spec.Affinity = nil, nil
	pod.Spec.TopologySpreadConstraints, pod.Spec.NodeSelector = nil, nil
	pod.Spec.HostAliases, pod.Spec.DNSConfig, pod.Spec.ImagePullSecrets = nil, nil, nil
	pod.Status.HostIPs, pod.Status.PodIPs = nil, nil
}

// claimVolumes copies the volumes that are claims.
func claimVolumes(volumes []corev1.Volume) (claims []corev1.Volume) {
	for i := range volumes {
		if claim := volumes[i].PersistentVolumeClaim; claim != nil {
			claims = append(claims, corev1.Volume{Name: volumes[i].Name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
		}
	}
	return claims
}
