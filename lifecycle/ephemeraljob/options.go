// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

// Options says what a Controller or a Reconciler works with. Kubernetes and
// Lifecycle are required; every other field has a useful zero value.
type Options struct {
	// Kubernetes reads pods, and injects containers into them. The controller limits
	// its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Lifecycle reads and writes EphemeralJobs.
	Lifecycle client.Interface

	// Namespace restricts the informers that New makes itself. Default: all namespaces.
	Namespace string
	// EphemeralJobs and Pods are informers that the caller shares and runs. New adds an
	// index to the first one, so it must not have been started before. Where one is nil, the
	// controller makes and runs its own, whose objects it keeps small.
	EphemeralJobs, Pods cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are (see
	// podwright.Caches): what was written before is perhaps done again there, and more
	// containers are under way than parallelism allows. Default false: Reconcile returns an
	// error.
	AllowStaleReads bool

	// Workers is the number of EphemeralJobs reconciled at the same time. Default 10.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about EphemeralJobs. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics, and QueueMetrics of the work queue, default to none.
	Metrics      Metrics
	QueueMetrics workqueue.MetricsProvider
}

// defaultWorkers is the default of Options.Workers.
const defaultWorkers = 10

func (o *Options) validate() error {
	return controller.Check("ephemeraljob").Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil).Workers(o.Workers, "EphemeralJobs", defaultWorkers).Err()
}
