// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about BroadcastJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads nodes, and reads and writes pods.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes BroadcastJobs.
	Workloads client.Interface

	// BroadcastJobs, Pods and Nodes are shared informers, see ControllerOptions. Nodes must hold all nodes: those
	// that it lacks do not exist.
	BroadcastJobs, Pods, Nodes cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// JobMetrics defaults to none.
	JobMetrics JobMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil)
}
