// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// noTemplate is what is wrong with a template that makes nothing. (ACJ-14.1)
const noTemplate = "must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"

var validName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,52}$`)

const (
	// longestName leaves room for a dash and the ten digits of a scheduled time in the names of jobs, which
	// labels of their pods hold.
	longestName = 52
	nameRule    = "must be letters, digits and dashes, 52 at most: the names of the jobs begin with it"
)

// ValidateCreate says what is wrong with a new AdvancedCronJob, field by field; an
// empty list means it can be created. It takes one before or after Default.
func ValidateCreate(cronJob *v1alpha1.AdvancedCronJob) field.ErrorList {
	var errs field.ErrorList
	if !validName.MatchString(cronJob.Name) && (cronJob.GenerateName == "" || cronJob.Name != "") {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), cronJob.Name, nameRule))
	} else if cronJob.Name == "" && !validName.MatchString(cronJob.GenerateName+"12345") {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "generateName"), cronJob.GenerateName, nameRule+", and five characters follow"))
	}
	path := field.NewPath("spec")
	errs = append(errs, validateSpec(&cronJob.Spec, path)...)
	errs = append(errs, unworkable(&cronJob.Spec, path)...)
	return append(errs, validateTemplate(&cronJob.Spec.Template, path.Child("template"))...)
}

// ValidateUpdate says what is wrong with the change from the stored cron job old to
// cronJob; an empty list means it can be saved. A template of Jobs or BroadcastJobs is
// immutable, and so is the kind of a template. Nothing is
// judged when the whole spec stays the same: labels, annotations and finalizers can
// always be changed.
func ValidateUpdate(cronJob, old *v1alpha1.AdvancedCronJob) field.ErrorList {
	if equality.Semantic.DeepEqual(&cronJob.Spec, &old.Spec) {
		return nil
	}
	path := field.NewPath("spec")
	errs := append(validateSpec(&cronJob.Spec, path), admission.Introduced(unworkable(&cronJob.Spec, path), unworkable(&old.Spec, path))...)
	template, stored := &cronJob.Spec.Template, &old.Spec.Template
	switch {
	case equality.Semantic.DeepEqual(template, stored):
	case isOfImages(template) && isOfImages(stored): // (ACJ-14.2)
		errs = append(errs, validateTemplate(template, path.Child("template"))...)
	default:
		errs = append(errs, field.Forbidden(path.Child("template"), "the template is immutable: create another AdvancedCronJob for another template"))
	}
	return errs
}

// validateSpec checks everything but the template.
func validateSpec(spec *v1alpha1.AdvancedCronJobSpec, path *field.Path) field.ErrorList {
	errs := validateSchedule(spec, path)
	errs = append(errs, validation.Enum(spec.ConcurrencyPolicy, path.Child("concurrencyPolicy"),
		v1alpha1.AllowConcurrent, v1alpha1.ForbidConcurrent, v1alpha1.ReplaceConcurrent)...)
	if spec.ConcurrencyPolicy == v1alpha1.AllowConcurrent && spec.Template.ImageListPullJobTemplate != nil {
		errs = append(errs, field.NotSupported(path.Child("concurrencyPolicy"), spec.ConcurrencyPolicy,
			[]v1alpha1.ConcurrencyPolicy{v1alpha1.ForbidConcurrent, v1alpha1.ReplaceConcurrent}))
	}
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

// unworkable refuses values that OpenKruise takes and with which no job ever runs. (ACJ-20)
func unworkable(spec *v1alpha1.AdvancedCronJobSpec, path *field.Path) (errs field.ErrorList) {
	if n := spec.StartingDeadlineSeconds; n != nil && *n == 0 {
		errs = append(errs, field.Invalid(path.Child("startingDeadlineSeconds"), 0, "must be 1 or more: every scheduled time would be missed"))
	}
	const fails = "must be 1 or more: the jobs would fail before they run a pod"
	at := path.Child("template")
	if t := spec.Template.JobTemplate; t != nil && t.Spec.ActiveDeadlineSeconds != nil && *t.Spec.ActiveDeadlineSeconds == 0 {
		errs = append(errs, field.Invalid(at.Child("jobTemplate", "spec", "activeDeadlineSeconds"), 0, fails))
	}
	if t := spec.Template.BroadcastJobTemplate; t != nil {
		errs = append(errs, validation.Number(t.Spec.Parallelism, at.Child("broadcastJobTemplate", "spec", "parallelism"))...)
		if n := t.Spec.CompletionPolicy.ActiveDeadlineSeconds; n != nil && *n == 0 && t.Spec.CompletionPolicy.Type != v1alpha1.Never {
			errs = append(errs, field.Invalid(at.Child("broadcastJobTemplate", "spec", "completionPolicy", "activeDeadlineSeconds"), 0, fails))
		}
	}
	if t := spec.Template.ImageListPullJobTemplate; t != nil {
		errs = append(errs, images.UnworkableList(&t.Spec, at.Child("imageListPullJobTemplate", "spec"))...)
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
	held := 0
	for _, holds := range []bool{template.JobTemplate != nil, template.BroadcastJobTemplate != nil, template.ImageListPullJobTemplate != nil} {
		if holds {
			held++
		}
	}
	switch {
	case held == 0:
		return field.ErrorList{field.Required(path, noTemplate)}
	case held > 1:
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, "must hold one of jobTemplate, broadcastJobTemplate and imageListPullJobTemplate")}
	case template.ImageListPullJobTemplate != nil:
		return append(images.ValidateList(&template.ImageListPullJobTemplate.Spec, path.Child("imageListPullJobTemplate", "spec")),
			validateImages(template.ImageListPullJobTemplate, path.Child("imageListPullJobTemplate", "spec"))...)
	case template.JobTemplate != nil:
		return append(validation.PodTemplate(&template.JobTemplate.Spec.Template, path.Child("jobTemplate", "spec", "template")), validateJob(template, path)...)
	}
	return append(validation.PodTemplate(&template.BroadcastJobTemplate.Spec.Template, path.Child("broadcastJobTemplate", "spec", "template")), validateJob(template, path)...)
}

// isOfImages tells whether a template makes ImageListPullJobs, and nothing else.
func isOfImages(template *v1alpha1.CronJobTemplate) bool {
	return template.ImageListPullJobTemplate != nil && template.JobTemplate == nil && template.BroadcastJobTemplate == nil
}

// longestPull is the largest activeDeadlineSeconds of a template of images: a day.
const longestPull = 86400

// validateImages checks what templates of images may not say, and ImageListPullJobs may. (ACJ-14.4)
func validateImages(template *v1alpha1.ImageListPullJobTemplateSpec, path *field.Path) (errs field.ErrorList) {
	spec := template.Spec.DeepCopy()
	defaultImages(spec)
	path = path.Child("completionPolicy")
	policy := &spec.CompletionPolicy
	if policy.Type == distributionv1alpha1.Never {
		errs = append(errs, field.NotSupported(path.Child("type"), policy.Type, []distributionv1alpha1.CompletionPolicyType{distributionv1alpha1.Always}))
	}
	if n := policy.ActiveDeadlineSeconds; n != nil {
		at := path.Child("activeDeadlineSeconds")
		if *n > longestPull {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be at most %d, a day", longestPull)))
		}
		if pull := spec.PullPolicy; pull != nil && pull.TimeoutSeconds != nil && *n < int64(*pull.TimeoutSeconds) {
			errs = append(errs, field.Invalid(at, *n, fmt.Sprintf("must be at least pullPolicy.timeoutSeconds, which is %d", *pull.TimeoutSeconds)))
		}
	}
	if policy.TTLSecondsAfterFinished != nil {
		errs = append(errs, field.Forbidden(path.Child("ttlSecondsAfterFinished"),
			"successfulJobsHistoryLimit and failedJobsHistoryLimit say how many jobs stay"))
	}
	return errs
}

// validateJob checks what the API server, or the webhook of BroadcastJobs, refuses in every job that is made of a
// template of one kind. (ACJ-14.3)
func validateJob(template *v1alpha1.CronJobTemplate, path *field.Path) (errs field.ErrorList) {
	least := func(n *int64, path *field.Path) {
		if n != nil && *n < 0 {
			errs = append(errs, field.Invalid(path, *n, "must be 0 or more"))
		}
	}
	wide := func(n *int32) *int64 {
		if n == nil {
			return nil
		}
		return new(int64(*n))
	}
	var policy corev1.RestartPolicy
	if t := template.JobTemplate; t != nil {
		path, policy = path.Child("jobTemplate", "spec"), t.Spec.Template.Spec.RestartPolicy
		for name, n := range map[string]*int64{"activeDeadlineSeconds": t.Spec.ActiveDeadlineSeconds, "backoffLimit": wide(t.Spec.BackoffLimit),
			"completions": wide(t.Spec.Completions), "parallelism": wide(t.Spec.Parallelism), "ttlSecondsAfterFinished": wide(t.Spec.TTLSecondsAfterFinished)} {
			least(n, path.Child(name))
		}
	} else {
		spec := &template.BroadcastJobTemplate.Spec
		path, policy = path.Child("broadcastJobTemplate", "spec"), spec.Template.Spec.RestartPolicy
		completion := &spec.CompletionPolicy
		least(new(int64(spec.FailurePolicy.RestartLimit)), path.Child("failurePolicy", "restartLimit"))
		least(completion.ActiveDeadlineSeconds, path.Child("completionPolicy", "activeDeadlineSeconds"))
		least(wide(completion.TTLSecondsAfterFinished), path.Child("completionPolicy", "ttlSecondsAfterFinished"))
		if completion.Type == v1alpha1.Never && (completion.ActiveDeadlineSeconds != nil || completion.TTLSecondsAfterFinished != nil) {
			errs = append(errs, field.Invalid(path.Child("completionPolicy", "type"), completion.Type, "has neither activeDeadlineSeconds nor ttlSecondsAfterFinished: such a job does not end"))
		}
	}
	if policy != corev1.RestartPolicyNever && policy != corev1.RestartPolicyOnFailure {
		errs = append(errs, field.NotSupported(path.Child("template", "spec", "restartPolicy"), policy,
			[]corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}))
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return cmp.Compare(a.Field, b.Field) })
	return errs
}
