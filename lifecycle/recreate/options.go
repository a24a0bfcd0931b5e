package recreate

import (
	"errors"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = controller.Metrics

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

	// Reader replaces the informers in a Reconciler. A Controller reads its
	// informers and ignores it.
	Reader Reader
	// AllowStaleReads makes passes on caches that cannot tell how far they are,
	// where Reader.Seen returns the empty string. Such a pass may not see what the
	// one before has written, and do it again. Default false: Reconcile returns an
	// error there.
	AllowStaleReads bool

	// Workers is the number of requests reconciled at the same time. Default 3.
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
		errs = append(errs, fmt.Errorf("recreate: Options.Kubernetes %w", err))
	}
	if o.Lifecycle == nil {
		errs = append(errs, errors.New("recreate: Options.Lifecycle is nil: it needs a client of the lifecycle kinds, client.NewForConfig makes one"))
	}
	if o.Workers < 0 {
		errs = append(errs, errors.New("recreate: Options.Workers is negative: it is the number of requests reconciled at the same time, 0 means 3"))
	}
	return errors.Join(errs...)
}
