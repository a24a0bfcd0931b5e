// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const kind = "BroadcastJob"

// ValidateCreate says what is wrong with a new job, field by field; an empty
// list means it can be created. It takes a job before or after Default.
func ValidateCreate(job *v1alpha1.BroadcastJob) field.ErrorList {
	path := field.NewPath("spec")
	errs := validation.Name(job.Name, field.NewPath("metadata", "name"), "the value of a label and the beginning of the names of the pods")
	errs = append(errs, validatePolicies(&job.Spec, path)...)
	errs = append(errs, unworkable(&job.Spec, path)...)
	return append(errs, validateTemplate(job, path)...)
}

// ValidateUpdate says what is wrong with the change from the stored job old to
// job; an empty list means it can be saved. Every field may change. Nothing is
// judged when the whole spec stays the same, and the template not when it does.
func ValidateUpdate(job, old *v1alpha1.BroadcastJob) field.ErrorList {
	if equality.Semantic.DeepEqual(&job.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := append(validatePolicies(&job.Spec, path), admission.Introduced(unworkable(&job.Spec, path), unworkable(&old.Spec, path))...)
	if templates(&job.Spec).Equal(templates(&old.Spec)) {
		return errs
	}
	return append(errs, validateTemplate(job, path)...)
}

// validatePolicies checks when a job ends, and when a pod has failed.
func validatePolicies(spec *v1alpha1.BroadcastJobSpec, path *field.Path) field.ErrorList {
	completion := path.Child("completionPolicy")
	errs := validateCompletion(&spec.CompletionPolicy, completion)
	notNegative := func(value int64, at *field.Path) {
		if value < 0 {
			errs = append(errs, field.Invalid(at, value, "must be 0 or more"))
		}
	}
	notNegative(ptr.Deref(spec.CompletionPolicy.ActiveDeadlineSeconds, 0), completion.Child("activeDeadlineSeconds"))
	notNegative(int64(ptr.Deref(spec.CompletionPolicy.TTLSecondsAfterFinished, 0)), completion.Child("ttlSecondsAfterFinished"))
	notNegative(int64(spec.FailurePolicy.RestartLimit), path.Child("failurePolicy", "restartLimit"))
	return errs
}

// unworkable refuses values that OpenKruise takes and with which no pod ever runs. (BJ-V8)
func unworkable(spec *v1alpha1.BroadcastJobSpec, path *field.Path) (errs field.ErrorList) {
	errs = validation.Number(spec.Parallelism, path.Child("parallelism"))
	if seconds := spec.CompletionPolicy.ActiveDeadlineSeconds; seconds != nil && *seconds == 0 && spec.CompletionPolicy.Type != v1alpha1.Never {
		errs = append(errs, field.Invalid(path.Child("completionPolicy", "activeDeadlineSeconds"), 0, "must be 1 or more: the job would fail before it runs a pod"))
	}
	return errs
}

func validateCompletion(policy *v1alpha1.CompletionPolicy, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if policy.Type != v1alpha1.Never {
		return nil
	}
	if policy.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("activeDeadlineSeconds"), "a job of the type Never goes on for ever"))
	}
	if policy.TTLSecondsAfterFinished != nil {
		errs = append(errs, field.Forbidden(path.Child("ttlSecondsAfterFinished"), "a job of the type Never is never finished"))
	}
	return errs
}

func validateTemplate(job *v1alpha1.BroadcastJob, path *field.Path) field.ErrorList {
	at := path.Child("template")
	errs := validation.JobTemplate(&job.Spec.Template, path)
	for _, key := range []string{v1alpha1.BroadcastJobNameLabel, v1alpha1.BroadcastJobControllerUIDLabel} {
		if job.Spec.Template.Labels[key] != "" {
			errs = append(errs, field.Forbidden(at.Child("metadata", "labels").Key(key), "the controller sets it on the pods"))
		}
	}
	switch p := job.Spec.Template.Spec.RestartPolicy; p {
	case corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure:
	case "":
		errs = append(errs, field.Required(at.Child("spec", "restartPolicy"), "it must be Never or OnFailure"))
	default:
		errs = append(errs, field.NotSupported(at.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}))
	}
	return errs
}
