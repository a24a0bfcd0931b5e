// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and Lifecycle
// are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods and nodes, and patches pods and their status.
	Kubernetes kubernetes.Interface
	// Lifecycle reads and creates ContainerRecreateRequests.
	Lifecycle client.Interface

	// Pods, Nodes and Requests are shared informers, see ControllerOptions: of pods, of nodes, and of
	// ContainerRecreateRequests.
	Pods, Nodes, Requests cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// PodMetrics defaults to none.
	PodMetrics PodMetrics
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}
