// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// resize is the name of the subresource of pods that cpu and memory are changed by.
const resize = "resize"

// resizable are the resources that a container can get while it runs.
var resizable = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// takeResources gives the containers of a pod the resources that they have in another one.
func takeResources(to, from *unstructured.Unstructured) {
	wanted := map[any]any{}
	for _, c := range containersOf(from) {
		wanted[c["name"]] = c["resources"]
	}
	for _, c := range containersOf(to) {
		setOrDelete(c, "resources", wanted[c["name"]])
	}
}

func containersOf(pod *unstructured.Unstructured) (out []map[string]any) {
	list, _, _ := unstructured.NestedFieldNoCopy(pod.Object, "spec", "containers")
	items, _ := list.([]any)
	for _, item := range items {
		if c, ok := item.(map[string]any); ok {
			out = append(out, c)
		}
	}
	return out
}

// validateResize refuses what the server refuses. That is a change of anything but cpu and memory, the removal of a
// request or limit, and another QoS class. It also refuses pods on nodes that cannot resize.
func validateResize(before, after *unstructured.Unstructured) field.ErrorList {
	old, changed, err := podsOf(before, after)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	var errs field.ErrorList
	spec, class := field.NewPath("spec"), qosClass(&old.Spec)
	for i := range old.Spec.Containers {
		path, was, is := spec.Child("containers").Index(i).Child("resources"), &old.Spec.Containers[i].Resources, &changed.Spec.Containers[i].Resources
		if lacks(is.Requests, was.Requests) || lacks(is.Limits, was.Limits) {
			errs = append(errs, field.Forbidden(path, "requests and limits cannot be removed"))
		}
		for _, name := range resizable {
			take(&was.Requests, is.Requests, name)
			take(&was.Limits, is.Limits, name)
		}
	}
	if qosClass(&changed.Spec) != class {
		errs = append(errs, field.Invalid(spec, qosClass(&changed.Spec), "the QoS class may not change"))
	}
	runs := func(s corev1.ContainerStatus) bool { return s.State.Running != nil }
	if i := slices.IndexFunc(old.Status.ContainerStatuses, runs); i >= 0 && old.Status.ContainerStatuses[i].Resources == nil {
		errs = append(errs, field.Forbidden(spec, "the node of the pod cannot resize it"))
	}
	return append(errs, immutable(old.Spec, changed.Spec, spec)...)
}

// qosClass is the QoS class of a pod by cpu and memory of its containers. A limit stands for a request that is missing.
func qosClass(spec *corev1.PodSpec) corev1.PodQOSClass {
	some, guaranteed := false, true
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, name := range resizable {
			limit := c.Resources.Limits[name]
			request, set := c.Resources.Requests[name]
			if !set {
				request = limit
			}
			some = some || !request.IsZero() || !limit.IsZero()
			guaranteed = guaranteed && !limit.IsZero() && request.Cmp(limit) == 0
		}
	}
	switch {
	case !some:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// lacks tells whether a list lacks something that another one has.
func lacks(list, of corev1.ResourceList) bool {
	for name := range of {
		if _, found := list[name]; !found {
			return true
		}
	}
	return false
}

func take(to *corev1.ResourceList, from corev1.ResourceList, name corev1.ResourceName) {
	if q, found := from[name]; found {
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		(*to)[name] = q
	}
}
