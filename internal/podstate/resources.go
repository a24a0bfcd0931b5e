// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ComputeResources are what can change in a running container, in the order in which
// they are named.
var ComputeResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// Effective returns what a container of a template has in a pod: the API server takes a
// limit for a request that is missing. Only cpu and memory are looked at.
func Effective(r corev1.ResourceRequirements) (out corev1.ResourceRequirements) {
	for _, name := range ComputeResources {
		limit, limited := r.Limits[name]
		if limited {
			SetQuantity(&out.Limits, name, limit)
		}
		if request, requested := r.Requests[name]; requested {
			SetQuantity(&out.Requests, name, request)
		} else if limited {
			SetQuantity(&out.Requests, name, limit)
		}
	}
	return out
}

// QOSClass is the QoS class of a pod that has no resources of its own. Of what its
// containers have only cpu and memory count, and of both only what is not zero.
func QOSClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	var all corev1.ResourceRequirements
	bounded := true
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			r := Effective(containers[i].Resources)
			addQuantities(&all.Requests, r.Requests)
			bounded = addQuantities(&all.Limits, r.Limits) == len(ComputeResources) && bounded
		}
	}
	switch {
	case len(all.Requests)+len(all.Limits) == 0:
		return corev1.PodQOSBestEffort
	case bounded && sameQuantities(all.Requests, all.Limits):
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// addQuantities adds up quantities, and tells how many are more than zero.
func addQuantities(sum *corev1.ResourceList, of corev1.ResourceList) (positive int) {
	for name, q := range of {
		if q.Sign() <= 0 {
			continue
		}
		positive++
		total := q.DeepCopy()
		if had, ok := (*sum)[name]; ok {
			total.Add(had)
		}
		SetQuantity(sum, name, total)
	}
	return positive
}

func sameQuantities(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, q := range a {
		if other, ok := b[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// SetQuantity sets a quantity of a list, which may be nil.
func SetQuantity(list *corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = q
}
