// SPDX-License-Identifier: Apache-2.0

// Package kit makes a process of the kinds that package manager of the library puts together, as a cluster runs it. It has
// several replicas of which one leads, webhooks with certificates of their own, probes, metrics and profiles. It is a module
// of its own, on controller-runtime, for programs that have no process yet. An operator that has one on controller-runtime
// takes package adapter.
//
// Run is all that most programs call. The packages below it are its parts, each of use alone. Package leader has an election
// whose former leader writes nothing, and package metrics measures controllers for Prometheus. Package webhooks serves them
// and keeps certificates and registration in order. Package crds installs definitions. The packages connect and serve are
// for processes without controller-runtime.
package kit

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podwright/podwright/examples/kit/leader"
	"github.com/podwright/podwright/examples/kit/webhooks"
)

// Kinds are what a process runs. A Set of package manager is one, without a Target: Run registers its webhooks.
type Kinds interface {
	webhooks.Registrar
	// Handlers answer the API server, by path.
	Handlers() map[string]http.Handler
	// OnMatchChange has a function called when the webhooks want to be registered for other requests.
	OnMatchChange(func()) error
	// RunWebhooks fills what the handlers read, in each replica, and RunControllers runs the controllers of the one that leads.
	RunWebhooks(context.Context) error
	RunControllers(context.Context) error
}

// Options say how a process runs. What has no "Required" has a useful zero value.
type Options struct {
	// Manager has the addresses of metrics, probes and profiles, and the Lease. If LeaderElection is set, so must
	// LeaderElectionID and LeaderElectionNamespace be.
	Manager manager.Options
	// Webhooks serves and registers the handlers, and Run closes it. webhooks.Listen makes one. Default nil: none are served.
	Webhooks *webhooks.Server
	// Kinds returns what runs; required. It is called once. Nothing is written through the connection of the leader while another
	// replica may lead: controllers take it. What each replica does takes the other.
	Kinds func(every, leading *rest.Config) (Kinds, error)
	// Prepare runs in each replica at the start, before the webhooks have to be in order: it may install CRDs. Default nil: nothing.
	Prepare func(context.Context) error
	// Patience is how long certificates and registration may take at the start. Default: 20 seconds.
	Patience time.Duration
	// Ready is called when the replica is prepared and its webhooks answer. From then on it may lead. Default nil.
	Ready func()
}

// Run works until the context is done, and then ends in order: controllers first, then webhooks and the other servers, and the
// Lease last. It returns an error when the start fails, a kind fails, or the Lease is lost. It logs through klog.
func Run(ctx context.Context, config *rest.Config, o Options) error {
	if o.Webhooks != nil {
		defer o.Webhooks.Close()
	}
	if o.Kinds == nil {
		return errors.New("kit: Options.Kinds is nil: it returns what runs, such as a Set of package manager")
	}
	if l := o.Manager; l.LeaderElection && (l.LeaderElectionID == "" || l.LeaderElectionNamespace == "") {
		return errors.New("kit: Options.Manager: LeaderElection needs LeaderElectionID and LeaderElectionNamespace, the name of a Lease")
	}
	ctrllog.SetLogger(klog.Background()) // of the process
	o.Manager.Logger = klog.FromContext(ctx)
	o.Manager.BaseContext = func() context.Context { return context.WithoutCancel(ctx) }
	if o.Webhooks != nil {
		o.Webhooks.Configure(&o.Manager)
	}
	p := &process{Options: o, prepared: make(chan struct{})}
	leading := config
	if o.Manager.LeaderElection {
		var err error
		if leading, err = leader.Elect(config, o.Manager.LeaderElectionNamespace, p.prepared, &p.Manager); err != nil {
			return err
		}
	}
	kinds, err := o.Kinds(config, leading)
	if err != nil {
		return err
	}
	runs, err := manager.New(config, p.Manager)
	if err != nil {
		return err
	}
	if err := p.add(runs, kinds); err != nil {
		return err
	}
	return runs.Start(ctx)
}

// process is one that runs.
type process struct {
	Options
	prepared chan struct{}
}

// add has a manager run the kinds.
func (p *process) add(runs manager.Manager, kinds Kinds) error {
	ready := healthz.Ping
	var err error
	if hooks := p.Webhooks; hooks != nil {
		ready = hooks.Check
		hooks.Webhooks, hooks.Handlers = kinds, kinds.Handlers()
		err = errors.Join(kinds.OnMatchChange(hooks.Look), hooks.AddTo(runs), runs.Add(everywhere(kinds.RunWebhooks)))
	}
	return errors.Join(err,
		runs.AddHealthzCheck("ping", healthz.Ping),
		runs.AddReadyzCheck("webhook-ready", ready),
		runs.Add(everywhere(p.prepare)),
		runs.Add(manager.RunnableFunc(func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return nil
			case <-p.prepared:
				return kinds.RunControllers(ctx)
			}
		})))
}

// prepare waits for the webhooks, which must be in order soon. Controllers wait for it.
func (p *process) prepare(ctx context.Context) error {
	if p.Prepare != nil {
		if err := p.Prepare(ctx); err != nil {
			return err
		}
	}
	if p.Webhooks != nil {
		if err := p.Webhooks.Await(ctx, cmp.Or(p.Patience, 20*time.Second)); err != nil || ctx.Err() != nil {
			return err
		}
	}
	close(p.prepared)
	if p.Ready != nil {
		p.Ready()
	}
	return nil
}

// everywhere runs in every replica, whether it leads or not.
type everywhere func(context.Context) error

func (f everywhere) Start(ctx context.Context) error { return f(ctx) }
func (everywhere) NeedLeaderElection() bool          { return false }
