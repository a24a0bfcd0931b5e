// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// JobMetrics receives what jobs do. Implementations must be safe for use by several
// goroutines.
type JobMetrics interface {
	// Injected is called after a reconcile has tried to inject. Its arguments are the numbers of pods
	// that got their containers, and of those that the API server has refused.
	Injected(served, refused int)
	// Finished is called when a job has succeeded or failed, with the numbers of pods by result,
	// and the time since its start. A job whose last write of the status had no answer is
	// left out.
	Finished(phase v1alpha1.EphemeralJobPhase, succeeded, failed int32, took time.Duration)
}

// noMetrics is JobMetrics that measures nothing.
type noMetrics struct{}

func (noMetrics) Injected(int, int)                                                {}
func (noMetrics) Finished(v1alpha1.EphemeralJobPhase, int32, int32, time.Duration) {}

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Lifecycle are required; every other field has a useful zero value.
type Options struct {
	podwright.ControllerOptions
	// Recorder receives events about EphemeralJobs. Default: that of Recorders.
	Recorder record.EventRecorder

	// Kubernetes reads pods, and injects containers into them. The controller limits
	// its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Lifecycle reads and writes EphemeralJobs.
	Lifecycle client.Interface

	// EphemeralJobs and Pods are informers that the caller shares and runs. New adds an
	// index to the first one, so it must not have been started before. If one is nil, the
	// controller makes and runs its own, whose objects it keeps small.
	EphemeralJobs, Pods cache.SharedIndexInformer

	// JobMetrics defaults to none.
	JobMetrics JobMetrics
}

// defaultWorkers is the default of Options.Workers.
const defaultWorkers = 10

func (o *Options) check(c *controller.Checks) {
	c.Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil)
}
