// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ephemeral is the name of the subresource of pods that ephemeral containers are added to, and
// ephemeralContainers that of their field.
const (
	ephemeral           = "ephemeralcontainers"
	ephemeralContainers = "ephemeralContainers"
)

// validateEphemeralContainers refuses to change or remove ephemeral containers. It also refuses a new one if the pod
// has its name already, or does not have its target.
func validateEphemeralContainers(before, after *unstructured.Unstructured) field.ErrorList {
	old, changed, err := podsOf(before, after)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	path := field.NewPath("spec", ephemeralContainers)
	names, now := map[string]bool{}, map[string]*corev1.EphemeralContainer{}
	for i := range changed.Spec.Containers {
		names[changed.Spec.Containers[i].Name] = true
	}
	var errs field.ErrorList
	for i := range changed.Spec.EphemeralContainers {
		c := &changed.Spec.EphemeralContainers[i]
		switch {
		case names[c.Name], now[c.Name] != nil:
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), c.Name))
		case c.TargetContainerName != "" && !names[c.TargetContainerName]:
			errs = append(errs, field.NotFound(path.Index(i).Child("targetContainerName"), c.TargetContainerName))
		}
		now[c.Name] = c
	}
	for i := range old.Spec.EphemeralContainers {
		was := &old.Spec.EphemeralContainers[i]
		switch is := now[was.Name]; {
		case is == nil:
			errs = append(errs, field.Forbidden(path, "existing ephemeral containers "+was.Name+" may not be removed"))
		case !equality.Semantic.DeepEqual(was, is):
			errs = append(errs, field.Forbidden(path, "existing ephemeral containers "+was.Name+" may not be changed"))
		}
	}
	return errs
}
