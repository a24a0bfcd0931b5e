package podreadiness

import (
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
)

// Metrics receives what the controller measures of itself.
type Metrics = controller.Metrics

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

	// Reader replaces the informer in a Reconciler. A Controller reads its
	// informer and ignores it.
	Reader Reader

	// Workers is the number of pods reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Metrics defaults to none.
	Metrics Metrics
	// QueueMetrics measures the work queue. Default: none.
	QueueMetrics workqueue.MetricsProvider
}

func (o *Options) validate() error {
	var errs []error
	if err := apiwriter.CheckClient(o.Kubernetes); err != nil {
		errs = append(errs, fmt.Errorf("podreadiness: Options.Kubernetes %w", err))
	}
	if o.Workers < 0 {
		errs = append(errs, errors.New("podreadiness: Options.Workers is negative: it is the number of pods reconciled at the same time, 0 means 3"))
	}
	return errors.Join(errs...)
}
