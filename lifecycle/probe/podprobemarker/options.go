// SPDX-License-Identifier: Apache-2.0

package podprobemarker

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
	// Recorder receives events about markers that select nothing since their selector is invalid. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods.
	Kubernetes kubernetes.Interface
	// Lifecycle reads and writes PodProbeMarkers, and reads NodePodProbes.
	Lifecycle client.Interface

	// Markers, Pods and NodePodProbes are shared informers, see ControllerOptions.
	Markers, Pods, NodePodProbes cache.SharedIndexInformer
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}
