// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
)

// Controller manages DaemonSets. New makes one.
type Controller struct {
	// Reconciler reconciles DaemonSets; exported for tools that ask what it would do.
	Reconciler *Reconciler
	loop       *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	sources, err := controller.Open("daemonset", reads(&o)...)
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(&o)
	r, err := NewReconciler(o)
	if err != nil {
		return nil, err
	}
	loop, err := r.shell.Loop(sources)
	return &Controller{Reconciler: r, loop: loop}, err
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx) }

// Reconciler reconciles DaemonSets: it observes the caches, plans, and applies the
// plan. It is safe for use by several goroutines, as long as one DaemonSet is
// reconciled by one of them at a time.
type Reconciler struct {
	workloads client.Interface
	reader    Reader
	jobs      workloads.ImagePullJobs
	budget    workloads.Budget
	features  Features
	writer    *apply.Writer
	direct    bool
	ended     podplan.BackOff
	attempts  attempts
	metrics   SetMetrics
	shell     *controller.Reconciler[Snapshot, Plan]
}

// NewReconciler returns a Reconciler for use in another framework: the caller
// calls Reconcile, and it reads what Options.Reader returns. For a controller that
// runs by itself, see New.
func NewReconciler(o Options) (*Reconciler, error) {
	if err := controller.CheckReader("daemonset", o.Reader != nil, o.validate()); err != nil {
		return nil, err
	}
	r := &Reconciler{workloads: o.Workloads, reader: o.Reader, jobs: o.Jobs, budget: o.Budget, features: o.Features, writer: newWriter(&o),
		direct: o.AssignDirectly, ended: podplan.BackOff{Most: mostBackOff}, metrics: o.SetMetrics}
	if r.metrics == nil {
		r.metrics = noMetrics{}
	}
	r.shell = controller.NewReconciler(r.kind(&o))
	return r, nil
}

// Reconcile reconciles a DaemonSet once. It asks to be called again after a time
// (0: only when something changes), or returns an error and wants to be called
// again after a back-off. It does nothing while the caches have not seen what it
// wrote before.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.shell.Reconcile(ctx, key)
}

// Snapshot returns what a plan depends on now; nil when the DaemonSet does not
// exist. Its objects are shared with the caches: replace them by changed copies to
// ask NewPlan what would happen if.
func (r *Reconciler) Snapshot(key types.NamespacedName) (*Snapshot, error) {
	return r.observe(context.Background(), key)
}

// Plan returns what the next Reconcile of a DaemonSet would do, without doing it;
// nil when the DaemonSet does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	return r.shell.Next(context.Background(), key)
}
