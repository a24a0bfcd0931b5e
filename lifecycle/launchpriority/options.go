// SPDX-License-Identifier: Apache-2.0

package launchpriority

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
	// Recorder receives events about pods. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, and reads, creates and patches ConfigMaps. It
	// needs no other permissions, and none to list ConfigMaps; but see Features.MarkCompleted.
	Kubernetes kubernetes.Interface

	// Pods is a shared informer, see ControllerOptions.
	Pods cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features
}

func (o *Options) check(c *controller.Checks) {
	c.That(o.Kubernetes != nil, "Options.Kubernetes is nil: it needs a clientset, kubernetes.NewForConfig makes one")
}
