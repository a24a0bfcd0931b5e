// SPDX-License-Identifier: Apache-2.0

package podreadiness

import (
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
)

// Metrics receives what the controller measures of itself.
type Metrics = podwright.Metrics

// Options says what a Controller or a Reconciler works with. Kubernetes is
// required; every other field has a useful zero value.
type Options struct {
	// Kubernetes patches the status of pods.
	Kubernetes kubernetes.Interface

	// Namespace restricts the informer that the controller makes itself.
	// Default: all namespaces.
	Namespace string
	// Pods is an informer that the caller shares and runs. Where it is nil, the
	// controller makes and runs its own, whose objects it keeps small.
	Pods cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler; New ignores it.
	Reader Reader

	// Workers is the number of pods reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about pods: what the API server refuses. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics, and QueueMetrics of the work queue, default to none.
	Metrics      Metrics
	QueueMetrics workqueue.MetricsProvider
}

func (o *Options) validate() error {
	return controller.Check("podreadiness").Client(o.Kubernetes).Workers(o.Workers, "pods", 3).Err()
}
