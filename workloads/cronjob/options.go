// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

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
// a second where a write takes 8 ms. (ACJ-10.1)
const workers = 20

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads, creates and deletes Jobs. A client-side rate limit (QPS)
	// makes jobs late.
	Kubernetes kubernetes.Interface
	// Workloads reads AdvancedCronJobs and writes their status, and reads, creates
	// and deletes BroadcastJobs.
	Workloads client.Interface

	// NoBroadcastJobs is for API servers that do not serve BroadcastJobs: none are
	// read, and a cron job with a template of one creates nothing. Default false.
	NoBroadcastJobs bool
	// Namespace restricts the informers that the controller makes itself.
	// Default: all namespaces.
	Namespace string
	// CronJobs, Jobs and BroadcastJobs are informers that the caller shares and
	// runs: of AdvancedCronJobs, of Jobs and of BroadcastJobs. The controller adds
	// indexes to those of jobs, so they must not have been started before New. Where
	// one is nil, the controller makes and runs its own.
	CronJobs, Jobs, BroadcastJobs cache.SharedIndexInformer

	// Recorder receives events about AdvancedCronJobs. Default nil: no events.
	Recorder record.EventRecorder

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are, where
	// Reader.SyncedResourceVersion returns the empty string: what was written before
	// is perhaps done again there. Default false: Reconcile returns an error.
	AllowStaleReads bool

	// Workers is the number of cron jobs reconciled at the same time. Default 20: many
	// are due at the same minute, and each of them waits for two writes.
	Workers int
	// Clock defaults to the real one. The location of its times is the time zone of
	// schedules that name none.
	Clock clock.WithTicker
	// Metrics, ScheduleMetrics, and QueueMetrics of the work queue, default to none.
	Metrics         Metrics
	ScheduleMetrics ScheduleMetrics
	QueueMetrics    workqueue.MetricsProvider
}

func (o *Options) validate() error {
	check := controller.Check("cronjob")
	check.Client(o.Kubernetes)
	check.That(o.Workloads != nil, "Options.Workloads is nil: it needs a client of the workload kinds, client.NewForConfig makes one")
	check.Workers(o.Workers, "cron jobs", workers)
	return check.Err()
}

// noMetrics is ScheduleMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Started(time.Duration) {}
func (noMetrics) Missed(int)            {}
