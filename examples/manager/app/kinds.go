// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	distributionclient "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/examples/process/crds"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/workloads"
	workloadsclient "github.com/podwright/podwright/workloads/client"
)

// kinds returns all that the manager runs and serves. A new kind is one more entry in the file of its area.
func kinds() []kind { return slices.Concat(workloadKinds(), distributionKinds(), lifecycleKinds()) }

// kind is one kind of objects: the controller that manages them, and the webhook. Everything but controller and resource
// has a useful zero value.
type kind struct {
	// flags defines what the kind alone is told.
	flags func(*pflag.FlagSet)
	// gate switches the controller. Empty: it always runs.
	gate featuregate.Feature
	// controller is the name in metrics, events and user agents. Empty: there is only a webhook.
	controller string
	// resource must be served before the controller runs.
	resource schema.GroupVersionResource
	// inCluster says that the controller works in the cluster as a whole also where others work in one namespace.
	inCluster bool
	// compose returns the controller and what it asks of the API server, made of its options; see made.
	compose func(context.Context, *parts) (made, error)
	// webhook returns what is served, with clients and gates; nil where nothing is.
	webhook func(kubernetes.Interface, featuregate.FeatureGate) webhook
}

// made is a controller that is not made yet, and the rules that it needs.
type made struct {
	rules []rbacv1.PolicyRule
	new   func() (runner, error)
}

// of returns the controller of options: New and Rules are those of its package.
func of[O any, C runner](options O, New func(O) (C, error), Rules func(O) []rbacv1.PolicyRule) made {
	return made{Rules(options), func() (runner, error) { return New(options) }}
}

// webhook is a Webhook of the library. Those that ask something of the API server have Rules, too.
type webhook interface {
	Handlers() map[string]http.Handler
}

// runner is a Controller of the library.
type runner interface {
	Run(ctx context.Context) error
}

// parts are what a controller is composed of: clients and a recorder of its own, by their user agent, and caches.
type parts struct {
	clients
	gates     featuregate.FeatureGate
	namespace string
	recorder  record.EventRecorder
	caches    *caches
	// served tells whether the API server serves a resource now.
	served func(context.Context, schema.GroupVersionResource) (bool, error)
	// synced is what must be read before the controller runs, beside what it waits for itself.
	synced []cache.InformerSynced
}

// clients are those of one part of the program.
type clients struct {
	kubernetes   kubernetes.Interface
	workloads    workloadsclient.Interface
	distribution distributionclient.Interface
	lifecycle    lifecycleclient.Interface
}

func newClients(config *rest.Config, part string) (c clients, err error) {
	config = rest.CopyConfig(config)
	config.UserAgent = program + "/" + part
	var errs [4]error
	c.kubernetes, errs[0] = process.KubernetesClient(config)
	c.workloads, errs[1] = workloadsclient.NewForConfig(config)
	c.distribution, errs[2] = distributionclient.NewForConfig(config)
	c.lifecycle, errs[3] = lifecycleclient.NewForConfig(config)
	return c, errors.Join(errs[:]...)
}

// caches are the informers that controllers share. Each is made when it is asked for first, and runs from the next start
// of a controller on.
type caches struct {
	informers.SharedInformerFactory
	clients
	namespace string
}

func (m *Manager) newCaches(config *rest.Config) (*caches, error) {
	c, err := newClients(config, "caches")
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(c.kubernetes, 0,
		informers.WithNamespace(m.config.Namespace), informers.WithTransform(workloads.Trim))
	return &caches{factory, c, m.config.Namespace}, nil
}

func (c *caches) pods() cache.SharedIndexInformer  { return c.Core().V1().Pods().Informer() }
func (c *caches) nodes() cache.SharedIndexInformer { return c.Core().V1().Nodes().Informer() }
func (c *caches) claims() cache.SharedIndexInformer {
	return c.Core().V1().PersistentVolumeClaims().Informer()
}
func (c *caches) revisions() cache.SharedIndexInformer {
	return c.Apps().V1().ControllerRevisions().Informer()
}

// controllers returns the kinds whose controllers run.
func (m *Manager) controllers() []kind {
	return slices.DeleteFunc(slices.Clone(m.config.kinds), func(k kind) bool {
		return k.controller == "" || k.gate != "" && !m.gates.Enabled(k.gate)
	})
}

// lookAgain is the time between two looks for a missing CRD.
const lookAgain = 5 * time.Second

// runControllers runs every controller until the context is done or one of them fails, and waits for all.
func (m *Manager) runControllers(ctx context.Context, config *rest.Config) error {
	shared, err := m.newCaches(config)
	if err != nil {
		return err
	}
	defer shared.Shutdown()
	isLeader.Set(1)
	defer isLeader.Set(0)
	running, ctx := errgroup.WithContext(ctx)
	for _, kind := range m.controllers() {
		running.Go(func() error {
			named := klog.NewContext(ctx, klog.FromContext(ctx).WithName(kind.controller))
			err := crds.Await(named, discovery.ToDiscoveryInterfaceWithContext(shared.kubernetes.Discovery()), kind.resource, lookAgain, nil)
			if err == nil {
				err = m.runController(ctx, kind, config, shared)
			}
			if err == nil || ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("%s: %w", kind.controller, err)
		})
	}
	return running.Wait()
}

// runController makes a controller and runs it until the context is done.
func (m *Manager) runController(ctx context.Context, k kind, config *rest.Config, shared *caches) error {
	own, err := newClients(config, k.controller)
	if err != nil {
		return err
	}
	// It outlives the controller, whose last reconcile may record an event.
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: own.kubernetes.CoreV1().Events("")})
	p := &parts{
		clients: own, gates: m.gates, namespace: m.config.Namespace, caches: shared,
		recorder: broadcaster.NewRecorder(scheme, corev1.EventSource{Component: k.controller}),
		served: func(ctx context.Context, resource schema.GroupVersionResource) (bool, error) {
			return crds.Served(ctx, discovery.ToDiscoveryInterfaceWithContext(own.kubernetes.Discovery()), resource)
		},
	}
	made, err := k.compose(ctx, p)
	if err != nil {
		return err
	}
	controller, err := made.new()
	if err != nil {
		return err
	}
	shared.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), p.synced...) {
		return context.Cause(ctx)
	}
	reconciles.Started(k.controller)
	return controller.Run(ctx)
}
