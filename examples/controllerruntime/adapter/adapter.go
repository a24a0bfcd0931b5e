// SPDX-License-Identifier: Apache-2.0

// Package adapter runs kinds of podwright in a manager of controller-runtime. They run on its caches, with its events, its
// webhook server and its election of a leader. It is a module of its own, so that a program that imports it needs little
// else.
package adapter

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/manager"
)

// Options returns what the options of every kind embed. Their controllers share the caches of the manager, as far as its scheme has
// the types, and record events by it. Informers of it also returns what the options of webhooks, Placers and Injectors name.
//
// If the manager's cache is restricted to namespaces, making a controller fails: such caches do not tell how far they are. Set Informers
// to nil then, and Namespace: the controller makes its own.
func Options(m ctrl.Manager) podwright.ControllerOptions {
	return podwright.ControllerOptions{
		Informers: func(object runtime.Object) (toolscache.SharedIndexInformer, error) {
			if _, _, err := m.GetScheme().ObjectKinds(object); runtime.IsNotRegisteredError(err) {
				return nil, nil
			}
			return informer(m, object)
		},
		Recorders: func(component string) record.EventRecorder { return recorder{m.GetEventRecorder(component)} },
	}
}

// Add adds kinds to a manager that has not been started. Describe of a kind's package makes one, of options that embed Options. Their
// controllers run while the manager leads, each as soon as the API server serves its kind. Their webhooks are served on the
// manager's webhook server, which every replica has. There their caches are filled, and if the options have a Target, the webhooks are registered.
//
// Kubernetes of the options defaults to a client of the manager's connection. The set that is returned has the CRDs, RBAC
// rules and policies of the kinds, and rules for events of controller-runtime. These are in the API group events.k8s.io.
func Add(m ctrl.Manager, o manager.Options, kinds ...podwright.Kind) (*manager.Set, error) {
	if o.Kubernetes == nil {
		clients, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
		if err != nil {
			return nil, err
		}
		o.Kubernetes = clients
	}
	set, err := manager.New(o, append(kinds[:len(kinds):len(kinds)], recording)...)
	if err != nil {
		return nil, err
	}
	if handlers := set.Handlers(); len(handlers) > 0 {
		server := m.GetWebhookServer()
		for path, handler := range handlers {
			server.Register(path, handler)
		}
	}
	return set, errors.Join(m.Add(runnable{set.RunControllers, true}), m.Add(runnable{set.RunWebhooks, false}))
}

// recording is what recorders of the manager ask of the API server.
var recording = podwright.Kind{Permissions: []podwright.Permission{{
	Rules: []rbacv1.PolicyRule{{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}}},
}}}

// runnable is what a manager runs: in the replica that leads, or in each.
type runnable struct {
	run   func(context.Context) error
	leads bool
}

func (r runnable) Start(ctx context.Context) error { return r.run(ctx) }
func (r runnable) NeedLeaderElection() bool        { return r.leads }

// informer returns the manager's informer of a type. A cache that is restricted to
// namespaces has several of them, which is an error.
func informer(m ctrl.Manager, object runtime.Object) (toolscache.SharedIndexInformer, error) {
	kind, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T has no metadata", object)
	}
	found, err := m.GetCache().GetInformer(context.Background(), kind, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("the informer of %T: %w", object, err)
	}
	shared, ok := found.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("the informer of %T is a %T, want one of all namespaces; if the manager is restricted to namespaces, run a "+
			"controller with caches of its own for each: %w", object, found, errors.ErrUnsupported)
	}
	return shared, nil
}
