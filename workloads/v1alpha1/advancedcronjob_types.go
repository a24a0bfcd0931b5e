// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
)

const (
	// ScheduledAtAnnotation is on the jobs of an AdvancedCronJob: the time for
	// which the job was scheduled, in RFC 3339.
	ScheduledAtAnnotation = "apps.kruise.io/scheduled-at"

	// DefaultSuccessfulJobsHistoryLimit and DefaultFailedJobsHistoryLimit are the
	// defaults of spec.successfulJobsHistoryLimit and spec.failedJobsHistoryLimit.
	DefaultSuccessfulJobsHistoryLimit int32 = 3
	DefaultFailedJobsHistoryLimit     int32 = 1
)

// ConcurrencyPolicy says what happens when a job is due while others are active.
//
// +kubebuilder:validation:Enum=Allow;Forbid;Replace
type ConcurrencyPolicy string

const (
	// AllowConcurrent creates the job beside those that are active. The default of Jobs and BroadcastJobs.
	AllowConcurrent ConcurrencyPolicy = "Allow"
	// ForbidConcurrent creates no job while another is active.
	ForbidConcurrent ConcurrencyPolicy = "Forbid"
	// ReplaceConcurrent deletes the active jobs, and creates the new one. The default of ImageListPullJobs.
	ReplaceConcurrent ConcurrencyPolicy = "Replace"
)

// TemplateKind says what an AdvancedCronJob creates.
type TemplateKind string

const (
	// JobTemplate is for Jobs of batch/v1.
	JobTemplate TemplateKind = "Job"
	// BroadcastJobTemplate is for BroadcastJobs.
	BroadcastJobTemplate TemplateKind = "BroadcastJob"
	// ImageListPullJobTemplate is for ImageListPullJobs.
	ImageListPullJobTemplate TemplateKind = "ImageListPullJob"
)

// AdvancedCronJobSpec is the desired state of an AdvancedCronJob.
type AdvancedCronJobSpec struct {
	// Schedule says when a job is due: five cron fields, or a descriptor such as
	// @daily or "@every 1h". It may begin with a time zone, as in
	// "TZ=Asia/Shanghai 0 10 * * *".
	// +kubebuilder:validation:MinLength=0
	Schedule string `json:"schedule"`

	// TimeZone is the name of the time zone of the schedule in the IANA database,
	// such as Asia/Shanghai. Default: that of the controller's process.
	// +optional
	TimeZone *string `json:"timeZone,omitempty"`

	// StartingDeadlineSeconds is how late, in seconds, a job may be created.
	// Default: as late as can be. 0 creates none.
	// +optional
	StartingDeadlineSeconds *int64 `json:"startingDeadlineSeconds,omitempty"`

	// ConcurrencyPolicy is Allow (default), Forbid or Replace. That of
	// ImageListPullJobs is Replace (default) or Forbid.
	// +optional
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// Paused creates no more jobs. Those that are active go on. Default false.
	// +optional
	Paused *bool `json:"paused,omitempty"`

	// SuccessfulJobsHistoryLimit is the number of successful jobs to keep. Default 3.
	// +optional
	SuccessfulJobsHistoryLimit *int32 `json:"successfulJobsHistoryLimit,omitempty"`

	// FailedJobsHistoryLimit is the number of failed jobs to keep. Default 1.
	// +optional
	FailedJobsHistoryLimit *int32 `json:"failedJobsHistoryLimit,omitempty"`

	// Template is what the jobs are made of. It cannot be changed, but for what
	// imageListPullJobTemplate holds: that counts from the next job on.
	Template CronJobTemplate `json:"template"`
}

// CronJobTemplate is what jobs are made of: exactly one of its fields is set.
type CronJobTemplate struct {
	// JobTemplate is for Jobs of batch/v1.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	JobTemplate *batchv1.JobTemplateSpec `json:"jobTemplate,omitempty"`

	// BroadcastJobTemplate is for BroadcastJobs.
	// +optional
	BroadcastJobTemplate *BroadcastJobTemplateSpec `json:"broadcastJobTemplate,omitempty"`

	// ImageListPullJobTemplate is for ImageListPullJobs, which pull images to
	// nodes ahead. OpenKruise 1.4 does not have it.
	// +optional
	ImageListPullJobTemplate *ImageListPullJobTemplateSpec `json:"imageListPullJobTemplate,omitempty"`
}

// BroadcastJobTemplateSpec is what a BroadcastJob is made of.
type BroadcastJobTemplateSpec struct {
	// Metadata is that of the BroadcastJob.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`

	// Spec is that of the BroadcastJob.
	// +optional
	Spec BroadcastJobSpec `json:"spec,omitempty"`
}

// ImageListPullJobTemplateSpec is what an ImageListPullJob is made of.
type ImageListPullJobTemplateSpec struct {
	// Metadata is that of the ImageListPullJob.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitempty"`

	// Spec is that of the ImageListPullJob. The type of its completionPolicy is
	// Always, and it has no ttlSecondsAfterFinished.
	// +optional
	Spec distributionv1alpha1.ImageListPullJobSpec `json:"spec,omitempty"`
}

// TemplateMetadata is the metadata of what is made of a template.
type TemplateMetadata struct {
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// AdvancedCronJobStatus is the observed state of an AdvancedCronJob.
type AdvancedCronJobStatus struct {
	// ObservedGeneration is the generation that this status was computed from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Type is what the template makes: Job, BroadcastJob or ImageListPullJob.
	// +optional
	Type TemplateKind `json:"type,omitempty"`

	// Active refers to the jobs that have not finished.
	// +optional
	Active []corev1.ObjectReference `json:"active,omitempty"`

	// LastScheduleTime is the newest scheduled time for which a job was created, or
	// is being created. It never goes back.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`
}

// AdvancedCronJob creates a Job, a BroadcastJob or an ImageListPullJob at the times of a schedule.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=acj
// +kubebuilder:printcolumn:name="Schedule",type="string",JSONPath=".spec.schedule",description="When jobs are due."
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".status.type",description="The kind of the jobs."
// +kubebuilder:printcolumn:name="LastScheduleTime",type="date",JSONPath=".status.lastScheduleTime",description="The newest time for which a job was created."
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule=`self.metadata.name.matches('^[a-zA-Z0-9-]{1,63}$')`,message="metadata.name must be letters, digits and dashes, 63 at most: the names of the jobs begin with it"
// +kubebuilder:validation:XValidation:fieldPath=".spec",rule=`has(self.spec)`,reason=FieldValueRequired,message="an AdvancedCronJob needs a spec with a schedule and a template"
// +kubebuilder:validation:XValidation:fieldPath=".spec.schedule",rule=`!has(self.spec) || size(self.spec.schedule) > 0`,reason=FieldValueRequired,message="must say when jobs are due, such as '0 10 * * *'"
// +kubebuilder:validation:XValidation:fieldPath=".spec.timeZone",rule=`!has(self.spec) || !has(self.spec.timeZone) || size(self.spec.timeZone) > 0`,message="must name a time zone of the IANA database, such as Etc/UTC, or be absent"
// +kubebuilder:validation:XValidation:fieldPath=".spec.timeZone",rule=`!has(self.spec) || !has(self.spec.timeZone) || !self.spec.timeZone.matches('^[lL][oO][cC][aA][lL]$')`,message="must not be Local: name a time zone, such as Etc/UTC, or leave the field out"
// +kubebuilder:validation:XValidation:fieldPath=".spec.timeZone",rule=`!has(self.spec) || !has(self.spec.timeZone) || !self.spec.schedule.contains('TZ')`,reason=FieldValueForbidden,message="must be absent if the schedule names a time zone: keep one of the two"
// +kubebuilder:validation:XValidation:fieldPath=".spec.startingDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.startingDeadlineSeconds) || self.spec.startingDeadlineSeconds >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.successfulJobsHistoryLimit",rule=`!has(self.spec) || !has(self.spec.successfulJobsHistoryLimit) || self.spec.successfulJobsHistoryLimit >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.failedJobsHistoryLimit",rule=`!has(self.spec) || !has(self.spec.failedJobsHistoryLimit) || self.spec.failedJobsHistoryLimit >= 0`,message="must be 0 or more"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template",rule=`!has(self.spec) || has(self.spec.template.jobTemplate) || has(self.spec.template.broadcastJobTemplate) || has(self.spec.template.imageListPullJobTemplate)`,reason=FieldValueRequired,message="must hold jobTemplate, broadcastJobTemplate or imageListPullJobTemplate: jobs of other kinds, such as ImagePullJob, cannot be scheduled"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template",rule=`!has(self.spec) || [has(self.spec.template.jobTemplate), has(self.spec.template.broadcastJobTemplate), has(self.spec.template.imageListPullJobTemplate)].filter(x, x).size() < 2`,message="must hold one of jobTemplate, broadcastJobTemplate and imageListPullJobTemplate"
// +kubebuilder:validation:XValidation:fieldPath=".spec.concurrencyPolicy",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.concurrencyPolicy) || self.spec.concurrencyPolicy in ['Replace', 'Forbid']`,messageExpression=`'must be Replace or Forbid with imageListPullJobTemplate, is ' + self.spec.concurrencyPolicy`
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || has(self.spec.template.imageListPullJobTemplate.spec)`,reason=FieldValueRequired,message="must say which images to pull"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec.images",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.template.imageListPullJobTemplate.spec) || size(self.spec.template.imageListPullJobTemplate.spec.images) > 0`,reason=FieldValueRequired,message="must name an image"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec.images",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.template.imageListPullJobTemplate.spec) || size(self.spec.template.imageListPullJobTemplate.spec.images) <= 255`,message="must hold at most 255 images"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec.podSelector",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.template.imageListPullJobTemplate.spec) || !has(self.spec.template.imageListPullJobTemplate.spec.selector) || !has(self.spec.template.imageListPullJobTemplate.spec.podSelector)`,reason=FieldValueForbidden,message="must be absent if selector is given: keep one of the two"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec.completionPolicy.type",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.template.imageListPullJobTemplate.spec) || !has(self.spec.template.imageListPullJobTemplate.spec.completionPolicy.type) || size(self.spec.template.imageListPullJobTemplate.spec.completionPolicy.type) == 0 || self.spec.template.imageListPullJobTemplate.spec.completionPolicy.type == 'Always'`,messageExpression=`'must be Always, is ' + self.spec.template.imageListPullJobTemplate.spec.completionPolicy.type`
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec.completionPolicy.activeDeadlineSeconds",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.template.imageListPullJobTemplate.spec) || !has(self.spec.template.imageListPullJobTemplate.spec.completionPolicy.activeDeadlineSeconds) || self.spec.template.imageListPullJobTemplate.spec.completionPolicy.activeDeadlineSeconds <= 86400`,message="must be at most 86400, a day"
// +kubebuilder:validation:XValidation:fieldPath=".spec.template.imageListPullJobTemplate.spec.completionPolicy.ttlSecondsAfterFinished",rule=`!has(self.spec) || !has(self.spec.template.imageListPullJobTemplate) || !has(self.spec.template.imageListPullJobTemplate.spec) || !has(self.spec.template.imageListPullJobTemplate.spec.completionPolicy.ttlSecondsAfterFinished)`,reason=FieldValueForbidden,message="must be absent: successfulJobsHistoryLimit and failedJobsHistoryLimit say how many jobs stay"
type AdvancedCronJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec AdvancedCronJobSpec `json:"spec,omitempty"`
	// Status is the observed state. Controllers and agents write it, users do not.
	Status AdvancedCronJobStatus `json:"status,omitempty"`
}

// AdvancedCronJobList is a list of AdvancedCronJobs.
//
// +kubebuilder:object:root=true
type AdvancedCronJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list, in no order.
	Items []AdvancedCronJob `json:"items"`
}
