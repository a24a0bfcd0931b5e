// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Options says what a Controller or a Reconciler works with. Kubernetes is
// required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about pods: what the API server refuses. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes patches the status of pods.
	Kubernetes kubernetes.Interface

	// Pods is a shared informer, see ControllerOptions.
	Pods cache.SharedIndexInformer
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes)
}
