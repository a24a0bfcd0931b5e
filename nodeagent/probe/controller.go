// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"maps"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

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
// one.
type Controller struct {
	// Reconciler reconciles the NodePodProbe; exported for tools that ask what it would do.
	Reconciler *Reconciler

	loop *controller.Loop
	node string
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Node == "" {
		return nil, errors.New("probe: Options.Node is empty: it names the node whose pods to probe")
	}
	o.Workers = 1 // there is one object
	c := &Controller{node: o.Node}
	sources, err := controller.Open("probe", []controller.Read{{
		Resource: ResourceNodePodProbes, Live: apiwriter.TypedCluster(o.Lifecycle.NodePodProbes),
		Informer: &o.NodePodProbes, Make: func() cache.SharedIndexInformer { return NewInformer(o.Lifecycle, o.Node) },
		Fields: controller.Generation | controller.Status, Concern: controller.On(c.concern),
	}})
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(o.NodePodProbes)
	o.Wake = func(key types.NamespacedName) { c.loop.AddAfter(key, settleTime) }
	if c.Reconciler, err = NewReconciler(o); err != nil {
		return nil, err
	}
	c.loop = sources.Loop(controller.Config{
		Name: "pod_probe", Reconcile: c.Reconciler.Reconcile, FirstRetry: firstBackOff, LastRetry: lastBackOff, OnTime: true,
		ControllerOptions: o.ControllerOptions,
	})
	return c, sources.Subscribe(c.loop.Add, nil, nil)
}

// NewInformer makes an informer of one NodePodProbe, that of a node. (PPM-4.1)
func NewInformer(c client.Interface, node string) cache.SharedIndexInformer {
	return client.NewFilteredNodePodProbeInformer(c, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", node).String()
	})
}

// Run probes until the context is done, and waits for everything it has started.
// Run runs the informer that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error {
	defer c.Reconciler.Close()
	return c.loop.Run(ctx)
}

// concern enqueues the NodePodProbe of the node. What the agent itself has written says what it knows.
func (c *Controller) concern(before, after *v1alpha1.NodePodProbe, enqueue controller.Enqueue) {
	n := after
	if n == nil {
		n = before
	}
	if n.Name != c.node { // an informer that is shared may know others
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
