// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// workers is the default of Options.Workers. With it a thousand jobs are created within
// a second if a write takes 8 ms. (ACJ-10.1)
const workers = 20

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about AdvancedCronJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads, creates and deletes Jobs. A client-side rate limit (QPS) makes jobs late.
	Kubernetes kubernetes.Interface
	// Workloads reads AdvancedCronJobs and writes their status, and reads, creates and deletes BroadcastJobs.
	Workloads client.Interface

	// Distribution reads, creates and deletes ImageListPullJobs. Default: none are
	// read, and a cron job with a template of one creates nothing.
	Distribution distributionclient.Interface

	// NoBroadcastJobs is for API servers that do not serve BroadcastJobs: none are
	// read, and a cron job with a template of one creates nothing. Default false.
	NoBroadcastJobs bool
	// CronJobs, Jobs, BroadcastJobs and ImageListPullJobs are shared informers, see ControllerOptions: of
	// AdvancedCronJobs, of Jobs, of BroadcastJobs and, if there is Distribution, of ImageListPullJobs.
	CronJobs, Jobs, BroadcastJobs, ImageListPullJobs cache.SharedIndexInformer

	// ScheduleMetrics defaults to none.
	ScheduleMetrics ScheduleMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil)
}
