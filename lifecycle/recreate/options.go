// SPDX-License-Identifier: Apache-2.0

package recreate

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
	// Recorder receives events about ContainerRecreateRequests: what the API server refuses. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes gets pods, and patches their status.
	Kubernetes kubernetes.Interface
	// Lifecycle patches ContainerRecreateRequests and their status, and
	// deletes them.
	Lifecycle client.Interface

	// Requests and Pods are shared informers, see ControllerOptions.
	Requests, Pods cache.SharedIndexInformer
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}
