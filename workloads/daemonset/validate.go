// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"regexp"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// kind is what errors call a DaemonSet.
const kind = "DaemonSet"

// ValidateCreate says what is wrong with a new DaemonSet, field by field; an
// empty list means it can be created. It takes a set before or after Default:
// an unset field counts as its default.
//
// Of the pod template it knows the rules that a DaemonSet adds and the mistakes
// that are made most. The rest is for the API server, see workloads.DryRun.
func ValidateCreate(set *v1alpha1.DaemonSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := append(validateSpec(set, path), unworkable(&set.Spec, path)...)
	return append(errs, validateTemplate(&set.Spec, path)...)
}

// ValidateUpdate says what is wrong with the change from the stored set old to
// set, field by field. An empty list means it can be saved.
//
// Every field may change. A template is judged when it changes, and nothing is
// when the whole spec stays the same. Labels, annotations and finalizers of a set
// can always be changed.
func ValidateUpdate(set, old *v1alpha1.DaemonSet) field.ErrorList {
	if equality.Semantic.DeepEqual(&set.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := append(validateSpec(set, path), admission.Introduced(unworkable(&set.Spec, path), unworkable(&old.Spec, path))...)
	if templates(&set.Spec).Equal(templates(&old.Spec)) {
		return errs
	}
	return append(errs, validateTemplate(&set.Spec, path)...)
}

// templates are what a DaemonSet makes its pods of.
func templates(spec *v1alpha1.DaemonSetSpec) podtemplate.Templates {
	return podtemplate.Templates{Pod: &spec.Template}
}

// unworkable refuses hooks of labels and finalizers that no pod can have, so that it is never held back. Other hooks than
// preDelete have no effect. (DS-V8)
func unworkable(spec *v1alpha1.DaemonSetSpec, path *field.Path) field.ErrorList {
	return validation.Lifecycle(spec.Lifecycle, path.Child("lifecycle"), "preDelete")
}

func validateTemplate(spec *v1alpha1.DaemonSetSpec, path *field.Path) field.ErrorList {
	errs := validation.Templates(templates(spec), kind, path)
	for i, volume := range spec.Template.Spec.Volumes {
		at := path.Child("template", "spec", "volumes").Index(i)
		if disk := volume.GCEPersistentDisk; disk != nil && !disk.ReadOnly {
			errs = append(errs, field.Invalid(at.Child("gcePersistentDisk", "readOnly"), false, "must be true: the pods of several nodes share the disk"))
		}
	}
	return errs
}

// validateSpec checks everything but the template.
func validateSpec(set *v1alpha1.DaemonSet, path *field.Path) field.ErrorList {
	spec := &set.Spec
	errs := validation.Selector(spec.Selector, spec.Template.Labels, path)
	notNegative := func(value int32, at *field.Path) {
		if value < 0 {
			errs = append(errs, field.Invalid(at, value, "must be 0 or more"))
		}
	}
	notNegative(spec.MinReadySeconds, path.Child("minReadySeconds"))
	if spec.RevisionHistoryLimit != nil {
		notNegative(*spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))
	}
	errs = append(errs, nodes(spec.BurstReplicas, path.Child("burstReplicas"))...)
	if spec.Lifecycle != nil && spec.Lifecycle.InPlaceUpdate != nil {
		errs = append(errs, field.Forbidden(path.Child("lifecycle", "inPlaceUpdate"), "a DaemonSet has no such hook"))
	}
	return append(errs, validateUpdateStrategy(&spec.UpdateStrategy, path.Child("updateStrategy"))...)
}

func validateUpdateStrategy(s *v1alpha1.DaemonSetUpdateStrategy, path *field.Path) field.ErrorList {
	errs := validation.Enum(s.Type, path.Child("type"), v1alpha1.RollingUpdateDaemonSetStrategyType, v1alpha1.OnDeleteDaemonSetStrategyType)
	if s.RollingUpdate == nil || s.Type == v1alpha1.OnDeleteDaemonSetStrategyType {
		return errs
	}
	rolling, path := s.RollingUpdate.DeepCopy(), path.Child("rollingUpdate")
	errs = append(errs, validation.Enum(rolling.Type, path.Child("rollingUpdateType"),
		v1alpha1.StandardRollingUpdateType, v1alpha1.InplaceRollingUpdateType, v1alpha1.DeprecatedSurgingRollingUpdateType)...)
	errs = append(errs, nodes(rolling.Partition, path.Child("partition"))...)
	if rolling.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(rolling.Selector, metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	}
	bad := append(nodes(rolling.MaxUnavailable, path.Child("maxUnavailable")), nodes(rolling.MaxSurge, path.Child("maxSurge"))...)
	if len(bad) > 0 {
		return append(errs, bad...)
	}
	defaultRollingUpdate(rolling)
	switch surges, disrupts := !isZero(rolling.MaxSurge), !isZero(rolling.MaxUnavailable); {
	case surges && rolling.Type == v1alpha1.InplaceRollingUpdateType:
		errs = append(errs, field.Invalid(path.Child("maxSurge"), rolling.MaxSurge.String(), "must be 0 with the type InPlaceIfPossible, which adds no pods: remove it or use Standard"))
	case surges && disrupts:
		errs = append(errs, field.Invalid(path.Child("maxSurge"), rolling.MaxSurge.String(), "must be 0 if maxUnavailable is not: an update takes pods out of service or adds some, not both"))
	case !surges && !disrupts:
		errs = append(errs, field.Invalid(path.Child("maxUnavailable"), rolling.MaxUnavailable.String(), "must not be 0 while maxSurge is 0, because no pod could ever be updated: raise one of them"))
	}
	return errs
}

var percentage = regexp.MustCompile("^0*(100|[0-9]{1,2})%$")

// nodes checks a number of nodes, or a percentage of them.
func nodes(value *intstr.IntOrString, path *field.Path) field.ErrorList {
	if value == nil || value.Type == intstr.Int && value.IntVal >= 0 || value.Type == intstr.String && percentage.MatchString(value.StrVal) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value.String(), "must be a number of nodes, 0 or more, or a whole percentage up to 100%")}
}
