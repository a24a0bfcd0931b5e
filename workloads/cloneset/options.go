// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads and writes pods, claims and revisions. The controller
	// limits its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes CloneSets.
	Workloads client.Interface

	// Namespace restricts the informers that New makes itself. Default: all.
	Namespace string
	// CloneSets, Pods, Claims, Revisions and Nodes are informers that the caller
	// shares and runs. New adds indexes to them, so they must not have been started
	// before. Where one is nil, the controller makes and runs its own, whose objects
	// it keeps small. Nodes rank pods under topology spread constraints, and tell which pods
	// wait for a kubelet that is gone (CS-38). With NoNodes they are not watched: every node
	// counts as a topology of its own, and as reachable.
	CloneSets, Pods, Claims, Revisions, Nodes cache.SharedIndexInformer
	NoNodes                                   bool

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are (see
	// podwright.Caches): pods are created twice there, and too many deleted. Default
	// false: Reconcile returns an error.
	AllowStaleReads bool
	// Jobs creates and deletes the jobs that pull images ahead of an in-place
	// update; workloads.NewImagePullJobs makes one. Default nil: no image is pulled ahead.
	Jobs workloads.ImagePullJobs
	// Budget is asked before an update takes a pod out of service. Default nil:
	// every update is allowed.
	Budget workloads.Budget
	// Placement is asked where a pod goes, before it is created. Default nil: where its template
	// says.
	Placement workloads.Placement

	// Workers is the number of CloneSets reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about CloneSets. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics, and QueueMetrics of the work queue, default to none.
	Metrics      Metrics
	QueueMetrics workqueue.MetricsProvider

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) validate() error {
	return controller.Check("cloneset").Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil).
		PreDownload(o.Features.PreDownload, o.Jobs != nil).Workers(o.Workers, "CloneSets", 3).Err()
}
