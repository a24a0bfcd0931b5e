// SPDX-License-Identifier: Apache-2.0

package recreate

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
	// Kubernetes gets pods, and patches their status. The controller limits
	// its own parallelism; a client-side rate limit (QPS) only slows it down.
	Kubernetes kubernetes.Interface
	// Lifecycle patches ContainerRecreateRequests and their status, and
	// deletes them.
	Lifecycle client.Interface

	// Namespace restricts the informers that the controller makes itself.
	// Default: all namespaces.
	Namespace string
	// Requests and Pods are informers that the caller shares and runs. The
	// controller adds an index to that of the requests, so it must not have
	// been started before New. Where one is nil, the controller makes and runs
	// its own, whose objects it keeps small.
	Requests, Pods cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader
	// AllowStaleReads reconciles on caches that cannot tell how far they are (see
	// podwright.Caches): what was written before is perhaps done again there. Default
	// false: Reconcile returns an error.
	AllowStaleReads bool

	// Workers is the number of requests reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about ContainerRecreateRequests: what the API server refuses. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics, and QueueMetrics of the work queue, default to none.
	Metrics      Metrics
	QueueMetrics workqueue.MetricsProvider
}

func (o *Options) validate() error {
	return controller.Check("recreate").Client(o.Kubernetes).KindClient("Lifecycle", "lifecycle", o.Lifecycle != nil).Workers(o.Workers, "requests", 3).Err()
}
