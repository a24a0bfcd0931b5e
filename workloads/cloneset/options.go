// SPDX-License-Identifier: Apache-2.0

package cloneset

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
	// Recorder receives events about CloneSets. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads and writes pods, claims and revisions.
	Kubernetes kubernetes.Interface
	// Workloads reads and writes CloneSets.
	Workloads client.Interface

	// CloneSets, Pods, Claims, Revisions and Nodes are shared informers, see ControllerOptions. Nodes rank pods
	// under topology spread constraints, and tell which pods wait for a kubelet that is gone (CS-38). With NoNodes
	// they are not watched: every node counts as a topology of its own, and as reachable.
	CloneSets, Pods, Claims, Revisions, Nodes cache.SharedIndexInformer
	NoNodes                                   bool
	// Jobs creates and deletes the jobs that pull images ahead of an in-place
	// update; workloads.NewImagePullJobs makes one. Default nil: no image is pulled ahead.
	Jobs workloads.ImagePullJobs
	// Budget is asked before an update takes a pod out of service. Default nil:
	// every update is allowed.
	Budget workloads.Budget
	// Placement is asked to which nodes a pod goes, before it is created. Default nil: those that its template
	// says.
	Placement workloads.Placement

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Workloads", "workload", o.Workloads != nil).
		PreDownload(o.Features.PreDownload, o.Jobs != nil)
}
