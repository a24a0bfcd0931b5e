// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// CronJob is the AdvancedCronJob. Required.
	CronJob *v1alpha1.AdvancedCronJob
	// Jobs are its Jobs, BroadcastJobs its BroadcastJobs, and ImageListPullJobs its
	// ImageListPullJobs, in any order. Others beside them do no harm. Only those of
	// the kind of the template count.
	Jobs              []*batchv1.Job
	BroadcastJobs     []*v1alpha1.BroadcastJob
	ImageListPullJobs []*distributionv1alpha1.ImageListPullJob
	// NoBroadcastJobs says that BroadcastJobs are not known, and none can be created.
	NoBroadcastJobs bool
	// NoImageListPullJobs says the same of ImageListPullJobs.
	NoImageListPullJobs bool
	// Unstarted is the scheduled time at status.lastScheduleTime if its job is
	// known not to have been created. Zero: it has been, as far as is known.
	Unstarted time.Time
	// Started is the scheduled time in RefusedAnnotation if its job is known to have been created after all, and may be
	// gone. Zero: it has not been, as far as is known.
	Started time.Time
	// Noted is the ScheduleAnnotation that was written last: it counts if the annotation is gone, as after a replacement of the
	// whole object. Empty: none was written, as far as is known.
	Noted string
	// Refused is the last job that the API server has refused, with the present spec; nil for none.
	Refused *Refusal
	// Now is the time for which to plan. Its location is the time zone of schedules
	// that name none.
	Now time.Time
}

// unstarted returns the scheduled time whose job is known not to have been created;
// zero for none.
func (s *Snapshot) unstarted() time.Time {
	last := s.CronJob.Status.LastScheduleTime
	if last == nil {
		return time.Time{}
	}
	if s.Unstarted.Equal(last.Time) {
		return s.Unstarted
	}
	if refused := s.refusedAt(); refused.Equal(last.Time) && !refused.Equal(s.Started) {
		return refused
	}
	return time.Time{}
}
