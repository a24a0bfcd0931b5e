// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
)

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Lifecycle are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about PodProbeMarkers for whose probes a node has no room. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads nodes and pods, and writes results to pods.
	Kubernetes kubernetes.Interface
	// Lifecycle reads and writes NodePodProbes, and reads PodProbeMarkers.
	Lifecycle client.Interface

	// NodePodProbes, Nodes, and Pods and Markers (those of the namespace) are shared informers, see
	// ControllerOptions.
	NodePodProbes, Nodes, Pods, Markers cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}
