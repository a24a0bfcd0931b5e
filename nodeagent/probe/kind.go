// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EventSource is the component of the feature's events. Options.Recorder should have it, and the node as its host.
const EventSource = v1alpha1.ProbeAgentEventSource

// resourceNodePodProbes is the cache that a Reconciler reads, and waits for.
const resourceNodePodProbes podwright.Resource = "nodepodprobes"

// settleTime is how long to collect the ends of runs.
const settleTime = 50 * time.Millisecond

// lastBackOff is the longest back-off of reconciles that fail. Probes go on being run at every one of them.
const lastBackOff = 10 * time.Second

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourceNodePodProbes, Object: &v1alpha1.NodePodProbe{}, LiveReader: apiwriter.TypedCluster(o.Lifecycle.NodePodProbes),
		Informer: &o.NodePodProbes, MakeInformer: func() cache.SharedIndexInformer { return NewInformer(o.Lifecycle, o.Node) }, IsPartial: true,
		Fields: controller.Generation | controller.Status, Concern: controller.On(o.concern),
	}}
}

// NewInformer makes an informer of one NodePodProbe, that of a node. (PPM-4.1)
func NewInformer(c client.Interface, node string) cache.SharedIndexInformer {
	return client.NewFilteredNodePodProbeInformer(c, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", node).String()
	})
}

// concern enqueues the NodePodProbe of the node. What the agent itself has written says what it knows.
func (o *Options) concern(before, after *v1alpha1.NodePodProbe, enqueue controller.Enqueue) {
	n := after
	if n == nil {
		n = before
	}
	if n.Name != o.Node { // an informer that is shared may know others
		return
	}
	if before != nil && after != nil && before.UID == after.UID && before.Generation == after.Generation && maps.Equal(states(before), states(after)) {
		return
	}
	enqueue(types.NamespacedName{Name: n.Name})
}

// states are those of a status.
func states(n *v1alpha1.NodePodProbe) map[reportKey]v1alpha1.ProbeState {
	out := map[reportKey]v1alpha1.ProbeState{}
	for key, state := range reportedBy(n) {
		out[key] = state.State
	}
	return out
}

// reconciler is what the steps of a reconcile share.
type reconciler struct {
	options Options
	began   time.Time
	// nodeAddress tells the address of the node; nil for what the runtime says, or podnet.NodeAddress.
	nodeAddress func() (string, error)

	writer apply.Writer // remembers writes
	runs   *runs

	lock     sync.Mutex
	written  time.Time // when the status was last written, or that was tried
	failures int       // of the last writes in a row
}

// kind describes NodePodProbes to the shell.
func (o *Options) kind() controller.Definition[Snapshot, Plan] {
	r := &reconciler{options: *o, began: o.Clock.Now()}
	r.runs = &runs{run: r.run, wake: o.Wake, clock: o.Clock, metrics: o.ProbeMetrics, of: map[ID]*known{}}
	return controller.Definition[Snapshot, Plan]{
		Name: "pod_probe", Self: r, RunsOnNode: true, RetryWhenDue: true, LastRetry: lastBackOff, FixedSettleTime: settleTime, Wake: &r.runs.wake,
		Observe: r.observe, Plan: NewPlan, Apply: r.apply, Writer: &r.writer, Close: r.runs.close,
	}
}

// observe reads what a plan depends on.
func (r *reconciler) observe(_ context.Context, key types.NamespacedName) (*Snapshot, error) {
	n, err := caches.Object[v1alpha1.NodePodProbe](r.options.Reader, resourceNodePodProbes, "NodePodProbe", key)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{key: key, NodePodProbe: n, Limits: r.options.Limits, Began: r.began, Now: r.options.Clock.Now()}
	r.runs.fill(s)
	return s, nil
}
