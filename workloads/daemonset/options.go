// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Workloads are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about DaemonSets. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads nodes, and reads and writes pods and revisions.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes DaemonSets.
	Workloads client.Interface

	// DaemonSets, Pods, Revisions and Nodes are shared informers, see ControllerOptions. Nodes must hold all
	// nodes: those that it lacks do not exist.
	DaemonSets, Pods, Revisions, Nodes cache.SharedIndexInformer
	// Jobs creates and deletes the jobs that pull images ahead of an update;
	// workloads.NewImagePullJobs makes one. Default nil: no image is pulled ahead.
	Jobs workloads.ImagePullJobs
	// Budget is asked before an update takes a pod out of service. Default nil:
	// every update is allowed.
	Budget workloads.Budget

	// SetMetrics defaults to none.
	SetMetrics SetMetrics

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil).
		PreDownload(o.Features.PreDownload, o.Jobs != nil)
}
