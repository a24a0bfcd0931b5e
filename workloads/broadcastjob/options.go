// SPDX-License-Identifier: Apache-2.0

package broadcastjob

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
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

// JobMetrics receives how jobs end. Implementations must be safe for use by several
// goroutines.
type JobMetrics interface {
	// Finished is called when a job is completed or has failed, with the numbers of nodes by
	// result, and the time since its start. A job whose last write of the status had no
	// answer is left out.
	Finished(phase v1alpha1.BroadcastJobPhase, succeeded, failed int32, took time.Duration)
}

// noMetrics is JobMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Finished(v1alpha1.BroadcastJobPhase, int32, int32, time.Duration) {}

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads nodes, and reads and writes pods. The controller limits its
	// own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes BroadcastJobs.
	Workloads client.Interface

	// Namespace restricts the informers that New makes itself to the jobs and pods of
	// a namespace. Default: all namespaces.
	Namespace string
	// BroadcastJobs, Pods and Nodes are informers that the caller shares and runs. New
	// adds indexes to them, so they must not have been started before. Where one is
	// nil, the controller makes and runs its own, whose objects it keeps small. Nodes
	// must hold all nodes: those that it lacks do not exist.
	BroadcastJobs, Pods, Nodes cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are (see
	// podwright.Caches): creations are tried again there that were made before. Default
	// false: Reconcile returns an error.
	AllowStaleReads bool
	// AssignDirectly assigns pods to their nodes by spec.nodeName, past the scheduler
	// and what it knows of other pods. Default false: the scheduler assigns them, held
	// to the node by the pod's node affinity.
	AssignDirectly bool

	// Workers is the number of BroadcastJobs reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about BroadcastJobs. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics, JobMetrics, and QueueMetrics of the work queue, default to none.
	Metrics      Metrics
	JobMetrics   JobMetrics
	QueueMetrics workqueue.MetricsProvider
}

func (o *Options) validate() error {
	return controller.Check("broadcastjob").Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil).Workers(o.Workers, "BroadcastJobs", 3).Err()
}
