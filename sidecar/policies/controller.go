// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
)

// Controller manages the policies of SidecarSets. New makes one.
type Controller struct {
	// Reconciler reconciles SidecarSets; exported for tools that ask what it would do.
	Reconciler *Reconciler
	loop       *controller.Loop
	discovery  discovery.ServerResourcesInterface
}

// New returns a controller that is not yet running.
func New(o Options) (*Controller, error) {
	sources, err := controller.Open("policies", o.validate(), o.reads)
	if err != nil {
		return nil, err
	}
	o.Reader = newInformerReader(&o)
	if o.Discovery == nil {
		o.Discovery = o.Kubernetes.Discovery()
	}
	r := newReconciler(&o)
	loop, err := r.shell.Loop(sources)
	return &Controller{Reconciler: r, loop: loop, discovery: o.Discovery}, err
}

// Run reconciles until the context is done, and waits for everything it has
// started. It runs the informers that New made itself. It can be called once. Where the
// API server does not serve policies it says so in the log and does nothing until the
// context is done. (SPC-8)
func (c *Controller) Run(ctx context.Context) error {
	if !c.served(ctx) {
		klog.FromContext(ctx).Info("The API server does not serve MutatingAdmissionPolicies, as from Kubernetes 1.36: SidecarSets are injected by the webhook alone")
		<-ctx.Done()
		_ = c.loop.Run(ctx) // ends what New has started
		return nil
	}
	return c.loop.Run(ctx)
}

// served asks whether policies are served, until there is an answer or the context is done.
func (c *Controller) served(ctx context.Context) (served bool) {
	_ = wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (_ bool, err error) {
		if served, err = Served(c.discovery); err != nil {
			klog.FromContext(ctx).Error(err, "Trying again in a second")
		}
		return err == nil, nil
	})
	return served
}

// Served tells whether an API server serves MutatingAdmissionPolicies of v1, as those of
// Kubernetes do from 1.36.
func Served(of discovery.ServerResourcesInterface) (bool, error) {
	resources, err := of.ServerResourcesForGroupVersion(admissionregistrationv1.SchemeGroupVersion.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find out whether MutatingAdmissionPolicies are served: %w", err)
	}
	for _, r := range resources.APIResources {
		if r.Name == string(ResourcePolicies) {
			return true, nil
		}
	}
	return false, nil
}

// Reconciler reconciles the policies of SidecarSets: it observes the caches, plans, and
// applies the plan. It is safe for use by several goroutines, as long as one SidecarSet is
// reconciled by one of them at a time.
type Reconciler struct {
	options Options
	writer  *apply.Writer
	shell   *controller.Reconciler[Snapshot, Plan]

	deletedPolicies, deletedBindings apiwriter.Last[types.UID] // the last ones
}

// NewReconciler returns a Reconciler for use in another framework: the caller
// calls Reconcile, and it reads what Options.Reader returns. For a controller that
// runs by itself, see New.
//
// A reconcile is due when a SidecarSet changes, or one of its revisions, its policy or the
// binding of that.
func NewReconciler(o Options) (*Reconciler, error) {
	if err := controller.CheckReader("policies", o.Reader != nil, o.validate()); err != nil {
		return nil, err
	}
	return newReconciler(&o), nil
}

// Reconcile reconciles the policy of a SidecarSet once. It asks to be called again after a
// time (0: only when something changes), or returns an error and wants to be called
// again after a back-off. It does nothing while the caches have not seen what it
// wrote before.
func (r *Reconciler) Reconcile(ctx context.Context, key types.NamespacedName) (requeueAfter time.Duration, err error) {
	return r.shell.Reconcile(ctx, key)
}

// Snapshot returns what a plan depends on now; nil when the SidecarSet does not exist.
// Its objects are shared with the caches: replace them by changed copies to ask
// NewPlan what would happen if.
func (r *Reconciler) Snapshot(key types.NamespacedName) (*Snapshot, error) {
	return r.observe(context.Background(), key)
}

// Plan returns what the next Reconcile of a SidecarSet would do, without doing it;
// nil when the SidecarSet does not exist.
func (r *Reconciler) Plan(key types.NamespacedName) (*Plan, error) {
	return r.shell.Next(context.Background(), key)
}
