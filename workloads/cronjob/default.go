// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	corev1 "k8s.io/api/core/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DefaultOptions tunes Default.
type DefaultOptions struct {
	// TemplateNoDefaults leaves the pod template as it was sent. To replace a
	// stored template that has defaults by one without is then a change of the
	// template, which is refused. Default false.
	TemplateNoDefaults bool
}

// Default sets the unset fields of an AdvancedCronJob to their defaults, in place.
// Old is the stored one of an update, and nil for a new one.
//
// The pod template is defaulted in a new cron job, and in an update that changes
// it. So a manifest without defaults can be applied again. (ACJ-14.2)
func Default(cronJob, old *v1alpha1.AdvancedCronJob, o DefaultOptions) {
	spec := &cronJob.Spec
	spec.ConcurrencyPolicy = concurrencyPolicy(spec)
	if t := spec.Template.ImageListPullJobTemplate; t != nil {
		defaultImages(&t.Spec)
	}
	if spec.Paused == nil {
		spec.Paused = new(bool)
	}
	if spec.SuccessfulJobsHistoryLimit == nil {
		spec.SuccessfulJobsHistoryLimit = new(v1alpha1.DefaultSuccessfulJobsHistoryLimit)
	}
	if spec.FailedJobsHistoryLimit == nil {
		spec.FailedJobsHistoryLimit = new(v1alpha1.DefaultFailedJobsHistoryLimit)
	}
	template := podTemplate(spec)
	if o.TemplateNoDefaults || template == nil {
		return
	}
	var stored *corev1.PodTemplateSpec
	if old != nil {
		stored = podTemplate(&old.Spec)
	}
	podtemplate.Templates{Pod: template}.Default(podtemplate.Templates{Pod: stored})
}

// concurrencyPolicy is the policy of a cron job. Its default is Replace for images, since one that is pulled twice at a time does no
// good, and Allow for others. (ACJ-14.2)
func concurrencyPolicy(spec *v1alpha1.AdvancedCronJobSpec) v1alpha1.ConcurrencyPolicy {
	switch t := &spec.Template; {
	case spec.ConcurrencyPolicy != "":
		return spec.ConcurrencyPolicy
	case t.ImageListPullJobTemplate != nil && t.JobTemplate == nil:
		return v1alpha1.ReplaceConcurrent
	}
	return v1alpha1.AllowConcurrent
}

// defaultImages sets the defaults of a template that says nothing of its completion. In others the jobs get theirs. (ACJ-14.2)
func defaultImages(spec *distributionv1alpha1.ImageListPullJobSpec) {
	if spec.CompletionPolicy.Type != "" {
		return
	}
	images.DefaultList(spec)
	if spec.ImagePullPolicy == "" {
		spec.ImagePullPolicy = distributionv1alpha1.ImagePullIfNotPresent
	}
}

// podTemplate is what the pods of the jobs are made of; nil if there is none.
func podTemplate(spec *v1alpha1.AdvancedCronJobSpec) *corev1.PodTemplateSpec {
	switch t := &spec.Template; {
	case t.JobTemplate != nil:
		return &t.JobTemplate.Spec.Template
	case t.BroadcastJobTemplate != nil:
		return &t.BroadcastJobTemplate.Spec.Template
	}
	return nil
}
