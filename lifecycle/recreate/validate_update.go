// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// ValidateUpdate says what is wrong with the change from the stored request old to
// request, field by field. An empty list means it can be saved. The spec cannot be
// changed, nor the labels that tell the pod and its node. The time from which
// unreadyGracePeriodSeconds counts cannot be changed either, once it is set. (CRR-3.1)
//
// A client that writes a request back without the defaults, or without a kind
// of preStop hook that it does not know, changes nothing.
func ValidateUpdate(request, old *v1alpha1.ContainerRecreateRequest) field.ErrorList {
	var errs field.ErrorList
	if !sameSpec(&request.Spec, &old.Spec) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "spec of ContainerRecreateRequest is immutable: create another one"))
	}
	metadata := field.NewPath("metadata")
	for _, label := range []string{v1alpha1.ContainerRecreateRequestPodUIDLabel, v1alpha1.ContainerRecreateRequestNodeNameLabel} {
		if was := old.Labels[label]; request.Labels[label] != was {
			errs = append(errs, field.Forbidden(metadata.Child("labels").Key(label), fmt.Sprintf("it is immutable and has to stay %q", was)))
		}
	}
	const acquired = v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation
	if was := old.Annotations[acquired]; was != "" && request.Annotations[acquired] != was {
		errs = append(errs, field.Forbidden(metadata.Child("annotations").Key(acquired), fmt.Sprintf("it is immutable once set and has to stay %q", was)))
	}
	return errs
}

// sameSpec tells whether two specs ask for the same.
func sameSpec(spec, old *v1alpha1.ContainerRecreateRequestSpec) bool {
	spec, old = spec.DeepCopy(), old.DeepCopy()
	defaultStrategy(spec)
	defaultStrategy(old)
	if equality.Semantic.DeepEqual(spec, old) {
		return true
	}
	dropNewHooks(old)
	return equality.Semantic.DeepEqual(spec, old)
}

// dropNewHooks leaves of preStop hooks what clients of OpenKruise 1.4 know.
func dropNewHooks(spec *v1alpha1.ContainerRecreateRequestSpec) {
	for i := range spec.Containers {
		if hook := spec.Containers[i].PreStop; hook != nil {
			hook.Sleep = nil
		}
	}
}
