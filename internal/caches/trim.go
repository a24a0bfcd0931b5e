// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
)

// Trim drops from an object, before it enters a cache of podwright's own, what no kind
// declares to read and no plan to come needs. It has the object share what is equal in
// other objects of its kind. See workloads.Trim, which lists both.
func Trim(obj any) (any, error) {
	drop(obj)
	shareParts(obj)
	return obj, nil
}

func drop(obj any) {
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
		object.Annotations, object.Spec.Template = podstate.Pick(object.Annotations, DeploymentRevision), corev1.PodTemplateSpec{}
	case *appsv1.StatefulSet:
		object.Annotations = podstate.Pick(object.Annotations, PersistentPodState...)
		object.Spec.Template, object.Spec.VolumeClaimTemplates = corev1.PodTemplateSpec{}, nil
	case *corev1.ReplicationController:
		object.Annotations, object.Spec.Template = nil, nil
	}
}

// trimPod keeps containers as they are: hashes are computed over them. Node selector, affinity,
// tolerations and volumes, but for that of the token, stay for kinds that place pods or inject into them.
func trimPod(pod *corev1.Pod) {
	pod.Spec.TopologySpreadConstraints = nil
	pod.Spec.HostAliases, pod.Spec.DNSConfig, pod.Spec.ImagePullSecrets = nil, nil, nil
	pod.Status.HostIPs, pod.Status.PodIPs = nil, nil
	pod.Spec.Volumes = slices.DeleteFunc(pod.Spec.Volumes, holdsToken)
}

// Outline returns what says of which workload a pod is, and whether it is going or over. That is names, labels, controller, deletion,
// phase, and the annotations that are asked for. It shares its labels with the pod.
func Outline(pod *corev1.Pod, annotations ...string) *corev1.Pod {
	outline := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			DeletionTimestamp: pod.DeletionTimestamp, Labels: pod.Labels, Annotations: podstate.Pick(pod.Annotations, annotations...),
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	if ref := metav1.GetControllerOf(pod); ref != nil {
		outline.OwnerReferences = []metav1.OwnerReference{*ref}
	}
	return outline
}

// tokenVolume begins the name of the volume that the API server adds to each pod for its token. The rest is drawn, so that
// no two pods have the same volumes.
const tokenVolume = "kube-api-access-"

func holdsToken(v corev1.Volume) bool {
	return v.Projected != nil && strings.HasPrefix(v.Name, tokenVolume)
}

// DeploymentRevision is the annotation of a ReplicaSet by which the latest one of a Deployment is
// known.
const DeploymentRevision = "deployment.kubernetes.io/revision"

// PersistentPodState are the annotations by which a workload asks for a PersistentPodState.
var PersistentPodState = []string{
	distributionv1alpha1.AutoGeneratePersistentPodStateAnnotation, distributionv1alpha1.RequiredPersistentTopologyAnnotation,
	distributionv1alpha1.PreferredPersistentTopologyAnnotation, distributionv1alpha1.PersistentPodAnnotationsAnnotation,
}
