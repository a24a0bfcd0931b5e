// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

// SetMetrics receives how far DaemonSets have come. Implementations must be safe
// for use by several goroutines.
type SetMetrics interface {
	// Counted is called in every reconcile of a DaemonSet with its status, which the
	// implementation must not change.
	Counted(set types.NamespacedName, status *v1alpha1.DaemonSetStatus)
	// Gone is called when a DaemonSet does not exist any more.
	Gone(set types.NamespacedName)
}

// noMetrics is SetMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Counted(types.NamespacedName, *v1alpha1.DaemonSetStatus) {}
func (noMetrics) Gone(types.NamespacedName)                               {}

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads nodes, and reads and writes pods and revisions. The controller
	// limits its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes DaemonSets.
	Workloads client.Interface

	// Namespace restricts the informers that New makes itself to the DaemonSets, pods
	// and revisions of a namespace. Default: all namespaces.
	Namespace string
	// DaemonSets, Pods, Revisions and Nodes are informers that the caller shares and
	// runs. New adds indexes to them, so they must not have been started before.
	// Where one is nil, the controller makes and runs its own, whose objects it keeps
	// small. Nodes must hold all nodes: those that it lacks do not exist.
	DaemonSets, Pods, Revisions, Nodes cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are, where
	// Reader.SyncedResourceVersion returns the empty string: more pods are taken out
	// of service there than the DaemonSet allows. Default false: Reconcile returns an
	// error.
	AllowStaleReads bool
	// AssignDirectly assigns pods to their nodes by spec.nodeName, past the scheduler
	// and what it knows of other pods. Default false: the scheduler assigns them, held
	// to the node by the pod's node affinity.
	AssignDirectly bool
	// Jobs creates and deletes the jobs that pull images ahead of an update;
	// workloads.NewImagePullJobs makes one. Default nil: no image is pulled ahead.
	Jobs workloads.ImagePullJobs
	// Budget is asked before an update takes a pod out of service. Default nil:
	// every update is allowed.
	Budget workloads.Budget

	// Workers is the number of DaemonSets reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about DaemonSets. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics, SetMetrics, and QueueMetrics of the work queue, default to none.
	Metrics      Metrics
	SetMetrics   SetMetrics
	QueueMetrics workqueue.MetricsProvider

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) validate() error {
	check := controller.Check("daemonset")
	check.Client(o.Kubernetes)
	check.That(o.Workloads != nil, "Options.Workloads is nil: it needs a client of the workload kinds, client.NewForConfig makes one")
	check.That(!o.Features.PreDownload || o.Jobs != nil, "Options.Features.PreDownload is set, but Options.Jobs is nil: there is nothing to create pull jobs with")
	check.Workers(o.Workers, "DaemonSets", 3)
	return check.Err()
}
