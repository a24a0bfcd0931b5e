// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"strconv"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// validatePort wants the number of a port, or the name of one.
func validatePort(port string, path *field.Path) (errs field.ErrorList) {
	messages := validation.IsValidPortName(port)
	if number, err := strconv.Atoi(port); err == nil {
		messages = validation.IsValidPortNum(number)
	}
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, port, message))
	}
	return errs
}

// validateResults looks at what becomes of a result. (PPM-1.5)
func validateResults(probe *v1alpha1.PodContainerProbe, types map[string]bool, path *field.Path) (errs field.ErrorList) {
	conditionType := probe.PodConditionType
	if conditionType == "" && len(probe.MarkerPolicy) == 0 {
		errs = append(errs, field.Required(path, "podConditionType or markerPolicy must say what becomes of the result"))
	}
	if conditionType != "" {
		path := path.Child("podConditionType")
		if types[conditionType] {
			errs = append(errs, field.Duplicate(path, conditionType))
		}
		if v1alpha1.TakenCondition(conditionType) {
			errs = append(errs, field.Invalid(path, conditionType, "it is a condition that Kubernetes or podwright writes, and no probe does (PPM-1.5)"))
		}
		types[conditionType] = true
		errs = append(errs, metav1validation.ValidateLabelName(conditionType, path)...)
	}
	states := map[v1alpha1.ProbeState]bool{}
	for i := range probe.MarkerPolicy {
		errs = append(errs, validatePolicy(&probe.MarkerPolicy[i], states, path.Child("markerPolicy").Index(i))...)
	}
	return errs
}

func validatePolicy(policy *v1alpha1.ProbeMarkerPolicy, seen map[v1alpha1.ProbeState]bool, path *field.Path) (errs field.ErrorList) {
	switch state := policy.State; {
	case state != v1alpha1.ProbeSucceeded && state != v1alpha1.ProbeFailed:
		errs = append(errs, field.NotSupported(path.Child("state"), state, []v1alpha1.ProbeState{v1alpha1.ProbeFailed, v1alpha1.ProbeSucceeded}))
	case seen[state]:
		errs = append(errs, field.Duplicate(path.Child("state"), state))
	}
	seen[policy.State] = true
	if len(policy.Labels)+len(policy.Annotations) == 0 {
		errs = append(errs, field.Required(path, "labels or annotations must say what to set"))
	}
	errs = append(errs, validateKeys(policy.Labels, path.Child("labels"))...)
	errs = append(errs, validateKeys(policy.Annotations, path.Child("annotations"))...)
	errs = append(errs, metav1validation.ValidateLabels(policy.Labels, path.Child("labels"))...)
	return append(errs, apivalidation.ValidateAnnotations(policy.Annotations, path.Child("annotations"))...)
}

// validateKeys refuses keys that controllers own in each pod. That of a pod that is to be deleted is for users, too. (PPM-1.5)
func validateKeys(of map[string]string, path *field.Path) (errs field.ErrorList) {
	for _, key := range podstate.Owned(of) {
		if key != v1alpha1.SpecifiedDeleteLabel {
			errs = append(errs, field.Invalid(path.Key(key), of[key], "it is a key that a controller of podwright writes in each pod, and no probe does (PPM-1.5)"))
		}
	}
	return errs
}
