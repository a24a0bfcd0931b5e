package imagepulljob

import (
	"errors"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/internal/controller"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// Metrics receives what the controller measures of itself.
type Metrics = controller.Metrics

// Options says what a Controller or a Reconciler works with. Distribution is
// required, and so is Kubernetes for a Controller that makes its own informer of
// pods; every other field has a useful zero value.
type Options struct {
	// Distribution reads and writes ImagePullJobs and NodeImages. The
	// controller limits its own parallelism; a client-side rate limit (QPS)
	// only slows it down.
	Distribution client.Interface
	// Kubernetes reads pods.
	Kubernetes kubernetes.Interface
	// Workloads reads CloneSets and StatefulSets: the nodes of a job that one
	// of them controls are taken in the order in which it updates its pods.
	// Both kinds must be served. Default nil: such nodes are taken in the order
	// of the names of the pods, unless the informers are given.
	Workloads workloadsclient.Interface

	// Namespace restricts the informers that the controller makes itself to
	// the jobs and pods of a namespace. Default: all namespaces.
	Namespace string
	// ImagePullJobs, NodeImages, Pods, CloneSets and StatefulSets (v1beta1) are
	// informers that the caller shares and runs. The controller adds indexes to
	// the first one. Where one is nil, the controller makes and runs its own,
	// whose objects it keeps small.
	ImagePullJobs, NodeImages, Pods, CloneSets, StatefulSets cache.SharedIndexInformer

	// Reader replaces the informers in a Reconciler. A Controller reads its
	// informers and ignores it.
	Reader Reader
	// AllowStaleReads makes passes on caches that cannot tell how far they are,
	// where Reader.Seen returns the empty string. Such a pass may not see what the
	// one before has written, and do it again. Default false: Reconcile returns an
	// error there.
	AllowStaleReads bool

	// Workers is the number of jobs reconciled at the same time. Default 3.
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
	if o.Distribution == nil {
		errs = append(errs, errors.New("imagepulljob: Options.Distribution is nil: it needs a client of the distribution kinds, client.NewForConfig makes one"))
	}
	if o.Kubernetes == nil && o.Pods == nil && o.Reader == nil {
		errs = append(errs, errors.New("imagepulljob: Options.Kubernetes is nil, and so is Options.Pods: it needs a clientset to read pods with, kubernetes.NewForConfig makes one"))
	}
	if o.Workers < 0 {
		errs = append(errs, errors.New("imagepulljob: Options.Workers is negative: it is the number of jobs reconciled at the same time, 0 means 3"))
	}
	return errors.Join(errs...)
}
