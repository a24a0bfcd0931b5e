// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
)

// EventSource is the component of the feature's events. Options.Recorder should have it, and the node as its host.
const EventSource = v1alpha1.ImagePullAgentEventSource

// resourceNodeImages is the cache that a Reconciler reads, and waits for.
const resourceNodeImages podwright.Resource = "nodeimages"

// settleTime is how long to collect the ends of attempts.
const settleTime = 100 * time.Millisecond

// defaultConcurrency is the default of Options.Concurrency.
const defaultConcurrency = 5

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourceNodeImages, Object: &v1alpha1.NodeImage{}, LiveReader: apiwriter.TypedCluster(o.Distribution.NodeImages),
		Informer: &o.NodeImages, MakeInformer: func() cache.SharedIndexInformer { return NewInformer(o.Distribution, o.Node) }, IsPartial: true,
		Fields: controller.Generation | controller.Status, Concern: o.concern,
	}}
}

// NewInformer makes an informer of one NodeImage, that of a node. (IMG-3.1)
func NewInformer(c client.Interface, node string) cache.SharedIndexInformer {
	return client.NewFilteredNodeImageInformer(c, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", node).String()
	})
}

// concern enqueues the NodeImage of the node. Labels change no plan.
func (o *Options) concern(e controller.Event, enqueue controller.Enqueue) {
	if e.Key().Name == o.Node { // an informer that is shared may know others
		enqueue(e.Key())
	}
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options     Options
	credentials *keyring

	writer apply.Writer // remembers writes
	pulls  *pulls

	lock    sync.Mutex
	written time.Time // when the status was last written
}

// kind describes NodeImages to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	o.Concurrency = cmp.Or(o.Concurrency, defaultConcurrency)
	r := &reconciler{options: *o, credentials: newKeyring(o)}
	r.pulls = &pulls{attempt: r.attempt, wake: o.Wake, clock: o.Clock, of: map[Task]*pull{}}
	return controller.Definition[Snapshot, Plan]{
		Name: "image_puller", Self: r, RunsOnNode: true, FixedSettleTime: settleTime, Wake: &r.pulls.wake,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, Writer: &r.writer, Close: r.pulls.close,
	}
}

// observe reads what a plan depends on. It asks for the images that the node has if the plan depends on them. A runtime
// that does not answer stops no pull from being reported: the attempt waits for it.
func (r *reconciler) observe(ctx context.Context, key types.NamespacedName) (*Snapshot, error) {
	n, err := caches.Object[v1alpha1.NodeImage](r.options.Reader, resourceNodeImages, "NodeImage", key)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{key: key, NodeImage: n, Pulls: r.pulls.list(), Concurrency: r.options.Concurrency, Limits: r.options.Limits, Filter: r.options.Filter, Now: r.options.Clock.Now()}
	if !NewPlan(s).ListImages {
		return s, nil
	}
	if s.Images, err = r.options.Runtime.Images(ctx); err != nil {
		klog.FromContext(ctx).Error(err, "It is not known which images the node has: all are pulled")
	}
	if s.Images == nil {
		s.Images = []*criv1.Image{}
	}
	return s, nil
}
