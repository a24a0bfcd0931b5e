package nodeimage

import (
	"errors"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
)

// Metrics receives what the controller measures of itself.
type Metrics = controller.Metrics

// Options says what a Controller or a Reconciler works with. Distribution and
// Kubernetes are required; every other field has a useful zero value.
type Options struct {
	// Distribution reads and writes NodeImages, and reads ImagePullJobs. The
	// controller limits its own parallelism; a client-side rate limit (QPS)
	// only slows it down.
	Distribution client.Interface
	// Kubernetes reads nodes.
	Kubernetes kubernetes.Interface

	// NodeImages, Nodes and ImagePullJobs (those of all namespaces) are
	// informers that the caller shares and runs. The controller adds an index to
	// the first one. Where one is nil, the controller makes and runs its own,
	// whose objects it keeps small.
	NodeImages, Nodes, ImagePullJobs cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler. A Controller reads its
	// informers and ignores it.
	Reader Reader
	// AllowStaleReads makes passes on caches that cannot tell how far they are,
	// where Reader.Seen returns the empty string. Such a pass may not see what the
	// one before has written, and do it again. Default false: Reconcile returns an
	// error there.
	AllowStaleReads bool

	// Timing says how long to wait for what.
	Timing Timing

	// Workers is the number of nodes reconciled at the same time. Default 3.
	Workers int
	// Clock defaults to the real one.
	Clock clock.WithTicker
	// Recorder receives events about NodeImages and about the jobs that own
	// their tasks. Default nil: no events.
	Recorder record.EventRecorder
	// Metrics defaults to none.
	Metrics Metrics
	// QueueMetrics measures the work queue. Default: none.
	QueueMetrics workqueue.MetricsProvider
}

func (o *Options) validate() error {
	var errs []error
	if o.Distribution == nil {
		errs = append(errs, errors.New("nodeimage: Options.Distribution is nil: it needs a client of the distribution kinds, client.NewForConfig makes one"))
	}
	if o.Kubernetes == nil {
		errs = append(errs, errors.New("nodeimage: Options.Kubernetes is nil: it needs a clientset to read nodes with, kubernetes.NewForConfig makes one"))
	}
	if o.Timing.ResponseTimeout < 0 {
		errs = append(errs, errors.New("nodeimage: Options.Timing.ResponseTimeout is negative: it is how long an agent may be silent about a task, 0 means a minute"))
	}
	if o.Workers < 0 {
		errs = append(errs, errors.New("nodeimage: Options.Workers is negative: it is the number of nodes reconciled at the same time, 0 means 3"))
	}
	return errors.Join(errs...)
}
