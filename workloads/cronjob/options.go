// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// ScheduleMetrics receives how well the controller keeps to schedules.
// Implementations must be safe for use by several goroutines.
type ScheduleMetrics interface {
	// Started is called when a job has been created, with the time that has passed
	// since its scheduled time.
	Started(late time.Duration)
	// Missed is called with a number of scheduled times that have no job: a later
	// one had come, or the starting deadline was over. Of more than 100 times in a
	// row 100 are counted.
	Missed(times int)
}

// workers is the default of Options.Workers. With it a thousand jobs are created within
// a second if a write takes 8 ms. (ACJ-10.1)
const workers = 20

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about AdvancedCronJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads, creates and deletes Jobs. A client-side rate limit (QPS)
	// makes jobs late.
	Kubernetes kubernetes.Interface
	// Workloads reads AdvancedCronJobs and writes their status, and reads, creates
	// and deletes BroadcastJobs.
	Workloads client.Interface

	// Distribution reads, creates and deletes ImageListPullJobs. Default: none are
	// read, and a cron job with a template of one creates nothing.
	Distribution distributionclient.Interface

	// NoBroadcastJobs is for API servers that do not serve BroadcastJobs: none are
	// read, and a cron job with a template of one creates nothing. Default false.
	NoBroadcastJobs bool
	// CronJobs, Jobs, BroadcastJobs and ImageListPullJobs are informers that the
	// caller shares and runs: of AdvancedCronJobs, of Jobs, of BroadcastJobs and, if
	// there is Distribution, of ImageListPullJobs. The controller adds indexes to
	// those of jobs, so they must not have been started before New. If one is nil,
	// the controller makes and runs its own.
	CronJobs, Jobs, BroadcastJobs, ImageListPullJobs cache.SharedIndexInformer

	// ScheduleMetrics defaults to none.
	ScheduleMetrics ScheduleMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil)
}

// noMetrics is ScheduleMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Started(time.Duration) {}
func (noMetrics) Missed(int)            {}
