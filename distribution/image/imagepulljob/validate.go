// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/validation"
)

// ValidateCreate says what is wrong with a new job, field by field; an empty
// list means it can be created. It takes a job before or after Default.
func ValidateCreate(job *v1alpha1.ImagePullJob) field.ErrorList {
	return append(validate(job), unworkable(&job.Spec)...)
}

// unworkable refuses what OpenKruise takes and with which no node ever pulls. (IMG-1.12)
func unworkable(spec *v1alpha1.ImagePullJobSpec) field.ErrorList {
	path := field.NewPath("spec")
	errs := validation.Number(spec.Parallelism, path.Child("parallelism"))
	if seconds := spec.CompletionPolicy.ActiveDeadlineSeconds; seconds != nil && *seconds < 1 && spec.CompletionPolicy.Type != v1alpha1.Never {
		errs = append(errs, field.Invalid(path.Child("completionPolicy", "activeDeadlineSeconds"), *seconds, "must be 1 or more: the job would end before any node pulls"))
	}
	return errs
}

func validate(job *v1alpha1.ImagePullJob) field.ErrorList {
	spec, path := &job.Spec, field.NewPath("spec")
	errs := validateImage(spec.Image, path.Child("image"))
	errs = append(errs, validateSelectors(spec, path)...)
	if sandbox := spec.SandboxConfig; sandbox != nil {
		path := path.Child("sandboxConfig")
		errs = append(errs, metav1validation.ValidateLabels(sandbox.Labels, path.Child("labels"))...)
		errs = append(errs, apivalidation.ValidateAnnotations(sandbox.Annotations, path.Child("annotations"))...)
	}
	return append(errs, validateCompletion(&spec.CompletionPolicy, path.Child("completionPolicy"))...)
}

// ValidateUpdate says what is wrong with the change from the stored job old to
// job; an empty list means it can be saved. Every field may change, the image
// too. Nothing is judged when the whole spec stays the same: labels, annotations
// and finalizers of a job can always be changed.
func ValidateUpdate(job, old *v1alpha1.ImagePullJob) field.ErrorList {
	if equality.Semantic.DeepEqual(&job.Spec, &old.Spec) {
		return nil
	}
	return append(validate(job), admission.Introduced(unworkable(&job.Spec), unworkable(&old.Spec))...)
}

func validateImage(image string, path *field.Path) field.ErrorList {
	if image == "" {
		return field.ErrorList{field.Required(path, "it says what to pull")}
	}
	if _, err := images.ParseReference(image); err != nil {
		return field.ErrorList{field.Invalid(path, image, err.Error())}
	}
	return nil
}

func validateSelectors(spec *v1alpha1.ImagePullJobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if spec.Selector != nil && spec.PodSelector != nil {
		errs = append(errs, field.Forbidden(path.Child("podSelector"), "selector is set too, and at most one of them can select the nodes"))
	}
	if spec.Selector != nil {
		errs = append(errs, validateNodeSelector(spec.Selector, path.Child("selector"))...)
	}
	return append(errs, validateLabelSelector(spec.PodSelector, path.Child("podSelector"))...)
}

func validateNodeSelector(selector *v1alpha1.ImagePullJobNodeSelector, path *field.Path) field.ErrorList {
	errs := validateLabelSelector(labelSelector(selector), path)
	if len(selector.Names) > 0 && len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 {
		errs = append(errs, field.Forbidden(path.Child("names"), "nodes are selected by name or by label, not by both"))
	}
	seen := map[string]bool{}
	for i, name := range selector.Names {
		if seen[name] {
			errs = append(errs, field.Duplicate(path.Child("names").Index(i), name))
		}
		seen[name] = true
	}
	return errs
}

// validateLabelSelector takes nil for valid.
func validateLabelSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

func validateCompletion(policy *v1alpha1.CompletionPolicy, path *field.Path) field.ErrorList {
	errs := validation.Enum(policy.Type, path.Child("type"), v1alpha1.Always, v1alpha1.Never)
	if policy.Type != v1alpha1.Never {
		return errs
	}
	if policy.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("activeDeadlineSeconds"), "a job of the type Never goes on for ever"))
	}
	if policy.TTLSecondsAfterFinished != nil {
		errs = append(errs, field.Forbidden(path.Child("ttlSecondsAfterFinished"), "a job of the type Never is never finished"))
	}
	return errs
}
