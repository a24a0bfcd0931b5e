// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// settleTime is how long to collect the ends of runs.
const settleTime = 50 * time.Millisecond

// The back-off of reconciles that fail. Probes go on being run at every one of them.
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 10 * time.Second
)

// Controller runs the probes that the NodePodProbe of a node asks for. New makes
// one. A reconcile takes milliseconds; the runs of probes that it starts go on by themselves.
type Controller = podwright.Controller[Snapshot, Plan]

// Reconciler reconciles the NodePodProbe of a node; keys have no namespace. One goroutine at a time
// calls it. NewReconciler makes one, and Close ends what it has started.
type Reconciler struct {
	podwright.Reconciler[Snapshot, Plan]
	runs *runs
}

// Close ends the runs that are under way and waits for them. Reconcile
// must not be called afterwards.
func (r *Reconciler) Close() { r.runs.close() }

// New returns a controller that is not yet running.
func New(o Options) (Controller, error) {
	s := o.setup()
	s.Check = func(c *controller.Checks) {
		o.check(c)
		c.That(o.Node != "", "Options.Node is empty: it names the node whose pods to probe")
	}
	return controller.New(s)
}

// NewReconciler returns a Reconciler for use in another framework: the
// caller has the queue, and it reads what Options.Reader returns.
func NewReconciler(o Options) (*Reconciler, error) {
	s := o.setup()
	s.Check = func(c *controller.Checks) {
		o.check(c)
		c.That(o.Wake != nil, "Options.Wake is nil: a Reconciler calls it when a run has ended")
	}
	r, err := controller.NewReconciler(s)
	if err != nil {
		return nil, err
	}
	return &Reconciler{r, controller.KindOf(r).Self.(*reconciler).runs}, nil
}

func (o *Options) setup() controller.Setup[Snapshot, Plan] {
	o.Workers = min(o.Workers, 1) // there is one object
	return controller.Setup[Snapshot, Plan]{
		Package: "probe", Objects: "NodePodProbes", Component: EventSource, Options: &o.ControllerOptions, Recorder: &o.Recorder, Workers: 1,
		Check: o.check, Reads: o.reads, Kind: o.kind,
	}
}

func (o *Options) reads() []controller.Read {
	return []controller.Read{{
		Resource: resourceNodePodProbes, Object: &v1alpha1.NodePodProbe{}, LiveReader: apiwriter.TypedCluster(o.Lifecycle.NodePodProbes),
		Informer: &o.NodePodProbes, MakeInformer: func() cache.SharedIndexInformer { return NewInformer(o.Lifecycle, o.Node) }, Selects: true,
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
