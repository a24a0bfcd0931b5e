// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"regexp"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// noTemplate is what is wrong with a template that makes nothing. (ACJ-14.1)
const noTemplate = "must hold jobTemplate or broadcastJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"

var validName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,63}$`)

// ValidateCreate says what is wrong with a new AdvancedCronJob, field by field; an
// empty list means it can be created. It takes one before or after Default.
func ValidateCreate(cronJob *v1alpha1.AdvancedCronJob) field.ErrorList {
	var errs field.ErrorList
	if !validName.MatchString(cronJob.Name) && cronJob.GenerateName == "" {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), cronJob.Name,
			"must be letters, digits and dashes, 63 at most: the names of the jobs begin with it"))
	}
	path := field.NewPath("spec")
	errs = append(errs, validateSpec(&cronJob.Spec, path)...)
	return append(errs, validateTemplate(&cronJob.Spec.Template, path.Child("template"))...)
}

// ValidateUpdate says what is wrong with the change from the stored cron job old to
// cronJob; an empty list means it can be saved. The template is immutable. Nothing is
// judged when the whole spec stays the same: labels, annotations and finalizers can
// always be changed.
func ValidateUpdate(cronJob, old *v1alpha1.AdvancedCronJob) field.ErrorList {
	if equality.Semantic.DeepEqual(&cronJob.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := validateSpec(&cronJob.Spec, path)
	if !equality.Semantic.DeepEqual(&cronJob.Spec.Template, &old.Spec.Template) {
		errs = append(errs, field.Forbidden(path.Child("template"), "the template is immutable: create another AdvancedCronJob for another template"))
	}
	return errs
}

// validateSpec checks everything but the template.
func validateSpec(spec *v1alpha1.AdvancedCronJobSpec, path *field.Path) field.ErrorList {
	errs := validateSchedule(spec, path)
	errs = append(errs, validation.Enum(spec.ConcurrencyPolicy, path.Child("concurrencyPolicy"),
		v1alpha1.AllowConcurrent, v1alpha1.ForbidConcurrent, v1alpha1.ReplaceConcurrent)...)
	if n := spec.StartingDeadlineSeconds; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("startingDeadlineSeconds"), *n, "must be 0 or more"))
	}
	if n := spec.SuccessfulJobsHistoryLimit; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("successfulJobsHistoryLimit"), *n, "must be 0 or more"))
	}
	if n := spec.FailedJobsHistoryLimit; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("failedJobsHistoryLimit"), *n, "must be 0 or more"))
	}
	return errs
}

func validateSchedule(spec *v1alpha1.AdvancedCronJobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if at := path.Child("schedule"); spec.Schedule == "" {
		errs = append(errs, field.Required(at, "it says when jobs are due, such as '0 10 * * *'"))
	} else if _, err := parse(spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(at, spec.Schedule, err.Error()))
	}
	if spec.TimeZone == nil {
		return errs
	}
	at := path.Child("timeZone")
	if namesZone(spec.Schedule) {
		errs = append(errs, field.Forbidden(at, "the schedule names a time zone itself: keep one of the two"))
	}
	if err := checkZone(*spec.TimeZone); err != nil {
		errs = append(errs, field.Invalid(at, *spec.TimeZone, err.Error()))
	}
	return errs
}

func validateTemplate(template *v1alpha1.CronJobTemplate, path *field.Path) field.ErrorList {
	switch {
	case template.JobTemplate == nil && template.BroadcastJobTemplate == nil:
		return field.ErrorList{field.Required(path, noTemplate)}
	case template.JobTemplate != nil && template.BroadcastJobTemplate != nil:
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, "must hold jobTemplate or broadcastJobTemplate, not both")}
	case template.JobTemplate != nil:
		return validation.PodTemplate(&template.JobTemplate.Spec.Template, path.Child("jobTemplate", "spec", "template"))
	}
	return validation.PodTemplate(&template.BroadcastJobTemplate.Spec.Template, path.Child("broadcastJobTemplate", "spec", "template"))
}
