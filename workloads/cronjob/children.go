// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// State says how far a job is.
type State string

const (
	// Active is the state of a job that has not finished.
	Active State = "Active"
	// Succeeded is the state of a job that is complete.
	Succeeded State = "Succeeded"
	// Failed is the state of a job that has failed.
	Failed State = "Failed"
)

// Child is a Job, BroadcastJob or ImageListPullJob of an AdvancedCronJob: what a plan reads of it.
type Child struct {
	// Reference names it, at the resourceVersion that was observed.
	Reference corev1.ObjectReference
	// Scheduled is the time for which it was created; zero if it does not say.
	Scheduled time.Time
	// State is how far the job is.
	State State
	// Started is when it started; zero if it has not.
	Started time.Time
	// TimeToLive is its ttlSecondsAfterFinished, in seconds, if it has yet to get that; nil if not.
	TimeToLive *int32
	// Deleting says that it is being deleted.
	Deleting bool
}

// children returns the jobs of the cron job by scheduled time and name. (ACJ-1)
func (s *Snapshot) children(kind v1alpha1.TemplateKind) []Child {
	var all []Child
	switch kind {
	case v1alpha1.BroadcastJobTemplate:
		all = controlled(s.CronJob, s.BroadcastJobs, broadcastJobChild)
	case v1alpha1.ImageListPullJobTemplate:
		all = controlled(s.CronJob, s.ImageListPullJobs, imageListPullJobChild)
	default:
		all = controlled(s.CronJob, s.Jobs, jobChild)
	}
	slices.SortFunc(all, func(a, b Child) int {
		return cmp.Or(a.Scheduled.Compare(b.Scheduled), cmp.Compare(a.Reference.Name, b.Reference.Name))
	})
	return all
}

// controlled reads the jobs that a cron job controls.
func controlled[O metav1.Object](by *v1alpha1.AdvancedCronJob, jobs []O, read func(O) Child) (all []Child) {
	for _, job := range jobs {
		if metav1.IsControlledBy(job, by) {
			all = append(all, read(job))
		}
	}
	return all
}

// jobChild is what a plan reads of a Job. (ACJ-2)
func jobChild(job *batchv1.Job) Child {
	c := childOf(job, batchv1.SchemeGroupVersion.String(), v1alpha1.JobTemplate, job.Status.StartTime)
	for i := range job.Status.Conditions {
		if condition := &job.Status.Conditions[i]; c.State == Active && condition.Status == corev1.ConditionTrue {
			c.State = stateOf(string(condition.Type))
		}
	}
	return c
}

// broadcastJobChild is what a plan reads of a BroadcastJob. (ACJ-2)
func broadcastJobChild(job *v1alpha1.BroadcastJob) Child {
	c := childOf(job, v1alpha1.SchemeGroupVersion.String(), v1alpha1.BroadcastJobTemplate, job.Status.StartTime)
	for i := range job.Status.Conditions {
		if condition := &job.Status.Conditions[i]; c.State == Active && condition.Status == corev1.ConditionTrue {
			c.State = stateOf(string(condition.Type))
		}
	}
	return c
}

// imageListPullJobChild is what a plan reads of an ImageListPullJob. (ACJ-2)
func imageListPullJobChild(job *distributionv1alpha1.ImageListPullJob) Child {
	c := childOf(job, distributionv1alpha1.SchemeGroupVersion.String(), v1alpha1.ImageListPullJobTemplate, job.Status.StartTime)
	switch status := &job.Status; {
	case status.CompletionTime == nil:
	case status.Succeeded == status.Desired:
		c.State = Succeeded
	default:
		c.State = Failed
	}
	return c
}

func childOf(job metav1.Object, apiVersion string, kind v1alpha1.TemplateKind, started *metav1.Time) Child {
	c := Child{
		Reference: corev1.ObjectReference{
			APIVersion: apiVersion, Kind: string(kind), Namespace: job.GetNamespace(), Name: job.GetName(),
			UID: job.GetUID(), ResourceVersion: job.GetResourceVersion(),
		},
		State: Active, TimeToLive: timeToLive(job), Deleting: job.GetDeletionTimestamp() != nil,
	}
	if scheduled, err := time.Parse(time.RFC3339, job.GetAnnotations()[v1alpha1.ScheduledAtAnnotation]); err == nil {
		c.Scheduled = scheduled
	}
	if started != nil {
		c.Started = started.Time
	}
	return c
}

// stateOf returns the state that a condition stands for which is True.
func stateOf(condition string) State {
	switch condition {
	case string(batchv1.JobComplete):
		return Succeeded
	case string(batchv1.JobFailed):
		return Failed
	}
	return Active
}

// same tells whether no plan differs for two states of a job.
func (c *Child) same(other *Child) bool {
	return c.Reference.UID == other.Reference.UID && c.Scheduled.Equal(other.Scheduled) && c.State == other.State &&
		c.Started.Equal(other.Started) && ptr.Equal(c.TimeToLive, other.TimeToLive) && c.Deleting == other.Deleting
}

// resource is what the job is one of.
func (c *Child) resource() podwright.Resource {
	switch v1alpha1.TemplateKind(c.Reference.Kind) {
	case v1alpha1.BroadcastJobTemplate:
		return resourceBroadcastJobs
	case v1alpha1.ImageListPullJobTemplate:
		return resourceImageListPullJobs
	}
	return resourceJobs
}
