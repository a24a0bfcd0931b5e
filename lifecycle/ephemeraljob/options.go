// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

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
	// Recorder receives events about EphemeralJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, and injects containers into them.
	Kubernetes kubernetes.Interface
	// Lifecycle reads and writes EphemeralJobs.
	Lifecycle client.Interface

	// EphemeralJobs and Pods are shared informers, see ControllerOptions.
	EphemeralJobs, Pods cache.SharedIndexInformer

	// JobMetrics defaults to none.
	JobMetrics JobMetrics
}

// defaultWorkers is the default of Options.Workers.
const defaultWorkers = 10

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}
