// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

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
	podwright.ControllerOptions
	// Recorder receives events about BroadcastJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads nodes, and reads and writes pods. The controller limits its
	// own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes BroadcastJobs.
	Workloads client.Interface

	// BroadcastJobs, Pods and Nodes are informers that the caller shares and runs. New
	// adds indexes to them, so they must not have been started before. If one is
	// nil, the controller makes and runs its own, whose objects it keeps small. Nodes
	// must hold all nodes: those that it lacks do not exist.
	BroadcastJobs, Pods, Nodes cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// JobMetrics defaults to none.
	JobMetrics JobMetrics
}

// Features are what a Controller can do otherwise.
type Features struct {
	// AssignDirectly assigns pods to their nodes by spec.nodeName, past the scheduler
	// and what it knows of other pods. Default false: the scheduler assigns them, held
	// to the node by the pod's node affinity.
	AssignDirectly bool
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil)
}
