// SPDX-License-Identifier: Apache-2.0

package cronjob

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/consistency"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/client"
)

// Controller manages AdvancedCronJobs. New makes one.
type Controller struct {
	// Reconciler reconciles AdvancedCronJobs; exported for tools that ask what it would do.
	Reconciler *Reconciler
	loop       *controller.Loop
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	o.Reader = nil
	if err := o.validate(); err != nil {
		return nil, err
	}
	sources, err := controller.Open("cronjob", reads(&o)...)
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

// Reconciler reconciles AdvancedCronJobs: it observes the caches, plans, and applies the
// plan. It is safe for use by several goroutines, as long as one cron job is
// reconciled by one of them at a time.
type Reconciler struct {
	kubernetes      kubernetes.Interface
	workloads       client.Interface
	jobs            apiwriter.Resource
	noBroadcastJobs bool
	reader          Reader
	writer          *apply.Writer
	creations       apply.Creations
	claims          consistency.Last[claim]
	recorded        consistency.Last[recorded]
	metrics         ScheduleMetrics
	shell           *controller.Reconciler[Snapshot, Plan]
}

// NewReconciler returns a Reconciler for use in another framework: the caller
// calls Reconcile, and it reads what Options.Reader returns. For a controller that
// runs by itself, see New.
//
// A reconcile is due when a cron job changes, when one of its jobs appears, ends or
// goes, and after the time that Reconcile returns.
func NewReconciler(o Options) (*Reconciler, error) {
	if err := controller.CheckReader("cronjob", o.Reader != nil, o.validate()); err != nil {
		return nil, err
	}
	r := &Reconciler{
		kubernetes: o.Kubernetes, workloads: o.Workloads, jobs: jobs(&o), noBroadcastJobs: o.NoBroadcastJobs,
		reader: o.Reader, writer: newWriter(&o), metrics: o.ScheduleMetrics,
	}
	if r.metrics == nil {
		r.metrics = noMetrics{}
	}
	r.shell = controller.NewReconciler(r.kind(&o))
	return r, nil
}

// Reconcile reconciles a cron job once. It asks to be called again after a time
// (0: only when something changes), or returns an error and wants to be called
// again after a back-off. It does nothing while the caches have not seen what it
// wrote before.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.shell.Reconcile(ctx, key)
}

// Snapshot returns what a plan depends on now; nil when the cron job does not exist.
// Its objects are shared with the caches: replace them by changed copies to ask
// NewPlan what would happen if.
func (r *Reconciler) Snapshot(key types.NamespacedName) (*Snapshot, error) {
	return r.observe(context.Background(), key)
}

// Plan returns what the next Reconcile of a cron job would do, without doing it;
// nil when the cron job does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	return r.shell.Next(context.Background(), key)
}
