// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"hash/maphash"
	"math/bits"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
)

// crowds are the kinds of which there are many objects that are nearly equal. Revisions are not: each holds another template.
// They are of the process, since the caches of several controllers hold the same objects, and keep none.
var crowds = struct {
	pods   sharer[corev1.Pod, *corev1.Pod]
	claims sharer[corev1.PersistentVolumeClaim, *corev1.PersistentVolumeClaim]
	nodes  sharer[corev1.Node, *corev1.Node]
	images sharer[distributionv1alpha1.NodeImage, *distributionv1alpha1.NodeImage]
}{
	pods: sharer[corev1.Pod, *corev1.Pod]{within: shareResources},
}

// shareParts has an object share with others of its kind what is equal in both.
func shareParts(object any) {
	switch object := object.(type) {
	case *corev1.Pod:
		crowds.pods.share(object, groupOfPod(object))
	case *corev1.PersistentVolumeClaim:
		crowds.claims.share(object, groupOfClaim(object))
	case *corev1.Node:
		crowds.nodes.share(object, group(0).with(object.Labels[corev1.LabelInstanceTypeStable]))
	case *distributionv1alpha1.NodeImage:
		crowds.images.share(object, 0)
	}
}

// A group is a hash of what objects have in common that are nearly equal. Its seed is not known, so that none
// can make many objects of one hash.
type group uint64

var seed = maphash.MakeSeed()

func (g group) with(text string) group {
	return group(bits.RotateLeft64(uint64(g), 23)*0x9e3779b97f4a7c15 ^ maphash.String(seed, text))
}

// groupOfOwner has objects of one namespace in a group that have the same owner. So no tenant decides
// what the objects of another one are compared with.
func groupOfOwner(object *metav1.ObjectMeta) group {
	g := group(0).with(object.Namespace)
	if len(object.OwnerReferences) > 0 {
		g = g.with(string(object.OwnerReferences[0].UID))
	}
	return g
}

// groupOfPod has pods of one owner and revision in a group, that have the same containers with
// the same images. These differ while updates in place come to one after the other.
func groupOfPod(pod *corev1.Pod) group {
	g := groupOfOwner(&pod.ObjectMeta).with(pod.Labels[appsv1.ControllerRevisionHashLabelKey])
	for _, containers := range [...][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			g = g.with(containers[i].Name).with(containers[i].Image)
		}
	}
	return g
}

// groupOfClaim has the claims in a group that a StatefulSet makes of one template: not all have an owner.
func groupOfClaim(claim *corev1.PersistentVolumeClaim) group {
	g := groupOfOwner(&claim.ObjectMeta)
	if parent, _, ok := podplan.SplitOrdinal(claim.Name); ok {
		g = g.with(parent)
	}
	return g
}

// shareResources has the status of containers share their resources with the spec. A kubelet repeats
// them there, twice, and they are a fifth of a pod.
func shareResources(pod *corev1.Pod) {
	shareResourcesOf(pod.Status.ContainerStatuses, pod.Spec.Containers)
	shareResourcesOf(pod.Status.InitContainerStatuses, pod.Spec.InitContainers)
}

func shareResourcesOf(statuses []corev1.ContainerStatus, containers []corev1.Container) {
	for i := range statuses {
		status := &statuses[i]
		for j := range containers {
			if containers[j].Name != status.Name {
				continue
			}
			spec := &containers[j].Resources
			mergeResources(&status.AllocatedResources, &spec.Requests)
			if status.Resources != nil {
				mergeResources(&status.Resources.Limits, &spec.Limits)
				mergeResources(&status.Resources.Requests, &spec.Requests)
			}
		}
	}
}
