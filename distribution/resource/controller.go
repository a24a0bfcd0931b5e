// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// Controller manages ResourceDistributions. New makes one.
type Controller struct {
	// Reconciler reconciles ResourceDistributions; exported for tools that ask what it
	// would do.
	Reconciler *Reconciler
	loop       *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	sources, err := controller.Open("resource", o.validate(), o.reads)
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(&o)
	r := newReconciler(&o)
	loop, err := r.shell.Loop(sources)
	return &Controller{Reconciler: r, loop: loop}, err
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// Reconciler reconciles ResourceDistributions: it observes the caches, plans, and applies
// the plan. It is safe for use by several goroutines, as long as one ResourceDistribution
// is reconciled by one of them at a time.
type Reconciler struct {
	options   Options
	writer    *apply.Writer
	conflicts apiwriter.Last[conflicts]
	contests  apiwriter.Contests
	shell     *controller.Reconciler[Snapshot, Plan]
}

// NewReconciler returns a Reconciler for use in another framework: the caller
// calls Reconcile, and it reads what Options.Reader returns. For a controller that
// runs by itself, see New.
//
// A reconcile is due when a ResourceDistribution changes, when what is in one of its copies
// changes or a copy goes, when a namespace appears, goes, begins to terminate or gets
// other labels (see Targets.Concern), and after the time that Reconcile returns.
func NewReconciler(o Options) (*Reconciler, error) {
	if err := controller.CheckReader("resource", o.Reader != nil, o.validate()); err != nil {
		return nil, err
	}
	return newReconciler(&o), nil
}

// Reconcile reconciles a ResourceDistribution once. It asks to be called again after a time
// (0: only when something changes), or returns an error and wants to be called
// again after a back-off. It does nothing while the caches have not seen what it
// wrote before.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.shell.Reconcile(ctx, key)
}

// Snapshot returns what a plan depends on now; nil when the ResourceDistribution does not
// exist. Its objects are shared with the caches: replace them by changed copies to
// ask NewPlan what would happen if.
func (r *Reconciler) Snapshot(key types.NamespacedName) (*Snapshot, error) {
	return r.observe(context.Background(), key)
}

// Plan returns what the next Reconcile of a ResourceDistribution would do, without doing
// it; nil when it does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	return r.shell.Next(context.Background(), key)
}
