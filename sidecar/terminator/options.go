// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
)

// PodMetrics receives how soon pods end whose sidecars were terminated. Implementations
// must be safe for use by several goroutines.
type PodMetrics interface {
	// Ended is called once for a pod that has ended, with the time since the last of
	// its main containers has. That is by the clock of its node, in whole seconds.
	// Pods that end while no controller runs are left out.
	Ended(mainExitToComplete time.Duration)
}

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

	// Pods, Nodes and Requests are informers that the caller shares and runs: of pods,
	// of nodes, and of ContainerRecreateRequests. If one is nil, the controller makes
	// and runs its own.
	Pods, Nodes, Requests cache.SharedIndexInformer

	// Features switches behaviour. Its zero value is the default of every feature.
	Features Features

	// PodMetrics defaults to none.
	PodMetrics PodMetrics
}

// Features are what a Controller can do otherwise.
type Features struct {
	// LeavePhase leaves the phase of pods to their kubelets, as OpenKruise 1.4 does. Then
	// sidecars have to exit with 0 when they are stopped, unless one has the variable
	// v1alpha1.TerminateSidecarIgnoreExitCodeEnv. Default false: see the comment of the package.
	LeavePhase bool
}

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}

// noMetrics is PodMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Ended(time.Duration) {}
