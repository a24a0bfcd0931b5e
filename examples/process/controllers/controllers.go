// SPDX-License-Identifier: Apache-2.0

// Package controllers runs controllers of the library in a program. Each has a name of its own, in the log, in its events
// and in the user agent of its requests. It starts as soon as the API server serves what it is about.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	availabilityclient "github.com/podwright/podwright/availability/client"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/connect"
	"github.com/podwright/podwright/examples/process/features"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/manager"
	sidecarclient "github.com/podwright/podwright/sidecar/client"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// eventKinds has the kinds that events are about. All of Kubernetes' would take half a megabyte.
var eventKinds = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme, v1beta1.AddToScheme, distributionv1alpha1.AddToScheme, sidecarv1alpha1.AddToScheme, availabilityv1alpha1.AddToScheme, lifecyclev1alpha1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	return scheme
})

// Controller is one controller of a program.
type Controller struct {
	// Name ends the user agent of its requests, and is the component that its events come from.
	Name string
	// Gate switches it. Empty: it always runs.
	Gate features.Gate
	// OrGate switches it, too: it runs if one of them is open. Default: there is none.
	OrGate features.Gate
	// Resource must be served before it runs.
	Resource schema.GroupVersionResource
	// Compose returns what runs: Describe of the kind's package, or Of.
	Compose func(context.Context, *Own) (podwright.Kind, error)
}

// Enabled returns the controllers whose gates are open.
func Enabled(all []Controller, gates *features.Gates) []Controller {
	return slices.DeleteFunc(all, func(c Controller) bool {
		return c.Gate != "" && !gates.Enabled(c.Gate) && (c.OrGate == "" || !gates.Enabled(c.OrGate))
	})
}

// Own is what a controller is composed of and does not share with others.
type Own struct {
	Clients
	// Config is how the API server is reached, for clients that are not among those.
	Config    *rest.Config
	Recorders func(component string) record.EventRecorder
	// Serves tells whether the API server serves a resource now.
	Serves func(context.Context, schema.GroupVersionResource) (bool, error)
	// Synced is what must be read before the controller runs, beside what it waits for itself.
	Synced []cache.InformerSynced
}

// Of returns the kind of a controller whose package has no Describe: New and Rules are those of the package.
func Of[O any, C podwright.Runner](options O, New func(O) (C, error), Rules func(O) []rbacv1.PolicyRule) podwright.Kind {
	return podwright.Kind{
		New:         func(context.Context) (podwright.Runner, error) { return New(options) },
		Permissions: []podwright.Permission{{Rules: Rules(options)}},
	}
}

// Clients are those of one part of a program, which its user agent names.
type Clients struct {
	Kubernetes   kubernetes.Interface
	Workloads    workloadsclient.Interface
	Distribution distributionclient.Interface
	Lifecycle    lifecycleclient.Interface
	Sidecar      sidecarclient.Interface
	Availability availabilityclient.Interface
}

// NewClients returns the clients of a part. Nothing is asked of the API server.
func NewClients(config *rest.Config, agent string) (c Clients, err error) {
	config = rest.CopyConfig(config)
	config.UserAgent = agent
	var errs [6]error
	c.Kubernetes, errs[0] = connect.Kubernetes(config)
	c.Workloads, errs[1] = workloadsclient.NewForConfig(config)
	c.Distribution, errs[2] = distributionclient.NewForConfig(config)
	c.Lifecycle, errs[3] = lifecycleclient.NewForConfig(config)
	c.Sidecar, errs[4] = sidecarclient.NewForConfig(config)
	c.Availability, errs[5] = availabilityclient.NewForConfig(config)
	return c, errors.Join(errs[:]...)
}

// Program is what runs the controllers. Every field is required, unless it says otherwise.
type Program struct {
	// Name begins the user agents.
	Name string
	// Config is how the API server is reached.
	Config *rest.Config
	// Caches are the informers that controllers share. One that a controller asks for while it is composed runs from then on.
	Caches informers.SharedInformerFactory
	// LookAgain is the time between two looks for a missing CRD.
	LookAgain time.Duration
	// Host is the node that events come from. Default: none.
	Host string
	// Waits is told of a controller whose CRD is missing, and Runs of one that begins. Default nil: there is no call.
	Waits, Runs func(Controller)
}

// Run runs every controller until the context is done or one of them fails, and waits for all.
func (p *Program) Run(ctx context.Context, all []Controller) error {
	defer p.Caches.Shutdown()
	clients, err := NewClients(p.Config, p.Name)
	if err != nil {
		return err
	}
	var kinds []podwright.Kind
	byName := map[string]Controller{}
	for _, c := range all {
		byName[c.Name] = c
		kinds = append(kinds, podwright.Kind{Name: c.Name, Resource: c.Resource, New: func(ctx context.Context) (podwright.Runner, error) {
			return p.compose(ctx, c)
		}})
	}
	told := func(who func(Controller)) func(podwright.Kind) {
		return func(k podwright.Kind) {
			if who != nil {
				who(byName[k.Name])
			}
		}
	}
	set, err := manager.New(manager.Options{
		Kubernetes: clients.Kubernetes, LookAgain: p.LookAgain, Start: p.Caches.StartWithContext, Waits: told(p.Waits), Runs: told(p.Runs),
	}, kinds...)
	if err != nil {
		return err
	}
	return set.RunControllers(ctx)
}

// compose makes a controller, with clients and events of its own.
func (p *Program) compose(ctx context.Context, c Controller) (podwright.Runner, error) {
	config := rest.CopyConfig(p.Config)
	config.UserAgent = p.Name + "/" + c.Name
	clients, err := NewClients(config, config.UserAgent)
	if err != nil {
		return nil, err
	}
	// They outlive the controller, whose last reconcile may record one.
	events := &events{context: context.WithoutCancel(ctx), client: clients.Kubernetes, host: p.Host}
	own := &Own{
		Clients: clients, Config: config, Recorders: events.recorder,
		Serves: func(ctx context.Context, resource schema.GroupVersionResource) (bool, error) {
			return manager.Served(ctx, clients.Kubernetes.Discovery(), resource)
		},
	}
	composed, err := c.Compose(ctx, own)
	if err != nil {
		return nil, err
	}
	made, err := composed.New(ctx)
	return &running{made, own, events}, err
}

// running is a controller that has what is its own.
type running struct {
	podwright.Runner
	own    *Own
	events *events
}

// Run implements podwright.Runner.
func (r *running) Run(ctx context.Context) error {
	defer r.events.shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), r.own.Synced...) {
		return context.Cause(ctx)
	}
	return r.Runner.Run(ctx)
}

// Describe returns the kinds of controllers, as they are if the API server serves everything: for manifests. Nothing is asked of it.
func Describe(all []Controller) (kinds []podwright.Kind, err error) {
	own := &Own{
		Config:    &rest.Config{},
		Recorders: func(string) record.EventRecorder { return &record.FakeRecorder{} },
		Serves:    func(context.Context, schema.GroupVersionResource) (bool, error) { return true, nil },
	}
	if own.Clients, err = NewClients(&rest.Config{}, ""); err != nil {
		return nil, err
	}
	for _, one := range all {
		kind, err := one.Compose(context.Background(), own)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.Name, err)
		}
		kind.Name, kind.Resource = one.Name, one.Resource
		kinds = append(kinds, kind)
	}
	return kinds, nil
}
