// SPDX-License-Identifier: Apache-2.0

package images

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/validation"
)

// DefaultJob sets the unset fields of the spec of an ImagePullJob to their defaults, in place. (IMG-1.1)
func DefaultJob(spec *v1alpha1.ImagePullJobSpec) {
	if spec.CompletionPolicy.Type == "" {
		spec.CompletionPolicy.Type = v1alpha1.Always
	}
	if spec.PullPolicy == nil {
		spec.PullPolicy = &v1alpha1.PullPolicy{}
	}
	if spec.PullPolicy.TimeoutSeconds == nil {
		spec.PullPolicy.TimeoutSeconds = ptr.To[int32](v1alpha1.DefaultImagePullTimeoutSeconds)
	}
	if spec.PullPolicy.BackoffLimit == nil {
		spec.PullPolicy.BackoffLimit = ptr.To[int32](v1alpha1.DefaultImagePullBackoffLimit)
	}
}

// UnworkableJob refuses what OpenKruise takes in a spec at a path, and with which no node ever pulls, or not as the word says. (IMG-1.12, IMG-1.14)
func UnworkableJob(spec *v1alpha1.ImagePullJobSpec, path *field.Path) field.ErrorList {
	errs := validation.Number(spec.Parallelism, path.Child("parallelism"))
	errs = append(errs, validation.Enum(spec.ImagePullPolicy, path.Child("imagePullPolicy"), v1alpha1.ImagePullAlways, v1alpha1.ImagePullIfNotPresent)...)
	if seconds := spec.CompletionPolicy.ActiveDeadlineSeconds; seconds != nil && *seconds < 1 && spec.CompletionPolicy.Type != v1alpha1.Never {
		errs = append(errs, field.Invalid(path.Child("completionPolicy", "activeDeadlineSeconds"), *seconds, "must be 1 or more: the job would end before any node pulls"))
	}
	return errs
}

// ValidateJob says what is wrong with the spec of an ImagePullJob at a path, but for its image. (IMG-1.1)
func ValidateJob(spec *v1alpha1.ImagePullJobSpec, path *field.Path) field.ErrorList {
	errs := validateSelectors(spec, path)
	if sandbox := spec.SandboxConfig; sandbox != nil {
		path := path.Child("sandboxConfig")
		errs = append(errs, metav1validation.ValidateLabels(sandbox.Labels, path.Child("labels"))...)
		errs = append(errs, apivalidation.ValidateAnnotations(sandbox.Annotations, path.Child("annotations"))...)
	}
	return append(errs, validateCompletion(&spec.CompletionPolicy, path.Child("completionPolicy"))...)
}

// ValidateImage says what is wrong with the name of an image at a path. (IMG-1.1)
func ValidateImage(image string, path *field.Path) field.ErrorList {
	if image == "" {
		return field.ErrorList{field.Required(path, "it says what to pull")}
	}
	if _, err := ParseReference(image); err != nil {
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
	errs := validateLabelSelector(NodeLabels(selector), path)
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

// NodeLabels is the part of a node selector that is about labels.
func NodeLabels(selector *v1alpha1.ImagePullJobNodeSelector) *metav1.LabelSelector {
	out := &metav1.LabelSelector{MatchLabels: selector.MatchLabels}
	for _, e := range selector.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement(e))
	}
	return out
}
