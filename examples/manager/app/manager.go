// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/deletion"
	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/kit"
	"github.com/podwright/podwright/examples/kit/connect"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// What a process measures stands in controller-runtime's registry. What a kind alone measures stands beside it.
var (
	reconciles = metrics.New(ctrlmetrics.Registry)
	injections = metrics.NewInjections(ctrlmetrics.Registry)
	deletions  = metrics.NewDeletions(ctrlmetrics.Registry)
	isLeader   = prometheus.NewGauge(prometheus.GaugeOpts{Name: "kruise_manager_is_leader", Help: "Whether this process runs the controllers: 1 or 0."})
)

func init() { ctrlmetrics.Registry.MustRegister(isLeader) }

// Manager runs the controllers and webhooks. New makes one.
type Manager struct {
	config Config
	gates  *features.Gates
	hooks  *webhooks.Server // nil without webhooks
	// admissions are what the webhooks are made of, served are the kinds with webhooks, and recorder receives their events; nil without them.
	admissions *admissions
	served     *podwrightmanager.Set
	recorder   record.EventRecorder
	denials    record.EventRecorder // the same, of denials by budgets
	// patience is how long the registration of the webhooks may take.
	patience time.Duration
	ready    chan struct{}
}

// New checks the configuration and opens the port of the webhooks. A Manager that is made must be run: that closes it.
func New(config Config) (*Manager, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("wrong configuration:\n%w", err)
	}
	gates, err := config.Features.Parse()
	if err != nil {
		return nil, err
	}
	m := &Manager{config: config, gates: gates, patience: config.WebhookInitializeTimeout, ready: make(chan struct{})}
	if config.Webhook.Enabled {
		m.hooks, err = webhooks.Listen(config.webhook(gates), config.OwnNamespace)
	}
	return m, err
}

// Ready is closed when the webhooks are registered and answer. Then the manager leads, or waits until it does.
func (m *Manager) Ready() <-chan struct{} { return m.ready }

// Run works until the context is done, and then ends in order: controllers first, then the webhooks and the other
// servers, and the Lease last. It returns an error when the start fails or the Lease is lost. It can be called once.
func (m *Manager) Run(ctx context.Context) error {
	if m.hooks != nil {
		defer m.hooks.Close()
	}
	if names := m.config.Features.WithoutEffect(); len(names) > 0 {
		klog.FromContext(ctx).Info("Feature gates without effect: this manager does not run what they switch", "gates", names)
	}
	for _, remark := range m.config.remarks {
		klog.FromContext(ctx).Info("Environment: " + remark)
	}
	config, source, err := connect.Config(m.config.REST, m.config.Kubeconfig)
	if err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Connecting to the API server", "host", config.Host, "from", source)
	config = rest.CopyConfig(config)
	config.DisableCompression = true // to unpack what watches send took a tenth of the CPU time, and API server and manager are near each other
	config.UserAgent, config.QPS, config.Burst = program, m.config.QPS, m.config.Burst
	core, err := connect.Kubernetes(config)
	if err != nil {
		return err
	}
	if m.hooks != nil {
		events := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx))) // of webhooks, which end with runs
		defer events.Shutdown()
		events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: core.CoreV1().Events("")})
		m.recorder = events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: program})
		m.denials = events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: availabilityv1alpha1.PubDenialEventSource})
	}
	l := m.config.LeaderElection
	return kit.Run(ctx, config, kit.Options{
		Manager: manager.Options{
			Metrics:                metricsserver.Options{BindAddress: cmp.Or(m.config.MetricsAddr, "0")},
			HealthProbeBindAddress: m.config.HealthProbeAddr, PprofBindAddress: m.config.PprofAddr,
			LeaderElection: l.Enabled, LeaderElectionID: l.ID, LeaderElectionNamespace: m.config.leaseNamespace(),
			LeaseDuration: &l.LeaseDuration, RenewDeadline: &l.RenewDeadline, RetryPeriod: &l.RetryPeriod,
		},
		Webhooks: m.hooks, Patience: m.patience,
		Kinds:   m.compose,
		Prepare: func(ctx context.Context) error { return m.prepare(ctx, config, core) },
		Ready:   func() { close(m.ready) },
	})
}

// running is what the manager runs: webhooks, of which some convert, and controllers, each as soon as its CRD is there.
type running struct {
	*podwrightmanager.Set
	m       *Manager
	leading *rest.Config
}

// compose returns what runs. Controllers write through the connection of the leader.
func (m *Manager) compose(every, leading *rest.Config) (kit.Kinds, error) {
	if m.hooks == nil {
		set, err := podwrightmanager.New(podwrightmanager.Options{})
		return &running{set, m, leading}, err
	}
	err := m.serve(every)
	return &running{m.served, m, leading}, err
}

func (r *running) Handlers() map[string]http.Handler { return r.m.handlers() }

func (r *running) RunControllers(ctx context.Context) error {
	return r.m.runControllers(ctx, r.leading)
}

// prepare finds out whether the API server answers, and creates what the manager is asked to create.
func (m *Manager) prepare(ctx context.Context, config *rest.Config, core kubernetes.Interface) error {
	version, err := discovery.ToDiscoveryInterfaceWithContext(core.Discovery()).ServerVersionWithContext(ctx)
	if err != nil {
		return fmt.Errorf("the API server %s does not answer: %w", config.Host, err)
	}
	klog.FromContext(ctx).Info("Connected", "kubernetes", version.GitVersion)
	if m.config.CreateOwnNamespace {
		own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: m.config.OwnNamespace}}
		if _, err := core.CoreV1().Namespaces().Create(ctx, own, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating the manager's own namespace %s: %w", own.Name, err)
		}
	}
	if m.config.InstallCRDs {
		return m.install(ctx, config)
	}
	return nil
}

// install applies the CRDs with the versions that the cluster stores. The webhooks answer by then, so that no request goes
// unconverted. (PF-5.3)
func (m *Manager) install(ctx context.Context, config *rest.Config) error {
	client, err := dynamic.NewForConfig(config)
	definitions, err2 := m.definitions()
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	conversion := webhooks.Conversion{ServeV1beta1: m.config.Webhook.ServeV1beta1}
	if m.hooks != nil {
		if err := m.hooks.Await(ctx, m.patience); err != nil || ctx.Err() != nil {
			return err
		}
		conversion.Target, conversion.Read = m.hooks.Target(), m.hooks.Plain
	}
	if err := webhooks.KeepVersions(ctx, client, definitions, conversion); err != nil {
		return err
	}
	return crds.Install(ctx, client, definitions)
}

// lookAgain is the time between two looks for a missing CRD.
const lookAgain = 5 * time.Second

// runControllers runs the controllers until the context is done or one of them fails, and waits for all.
func (m *Manager) runControllers(ctx context.Context, config *rest.Config) error {
	caches, err := m.newCaches(config)
	if err != nil {
		return err
	}
	isLeader.Set(1)
	defer isLeader.Set(0)
	running := controllers.Program{
		Name: program, Config: config, Caches: caches, LookAgain: lookAgain,
		Runs: func(c controllers.Controller) {
			reconciles.Started(c.Name)
			if c.Resource == podUnavailableBudgetsResource && m.admissions != nil { // which has the pods cached, and its webhook needs no other cache
				m.admissions.budgets.SharePods(caches.pods())
			}
		},
		Waits: func(c controllers.Controller) { // no pod is created before it is known whether a WorkloadSpread or the like places it
			switch c.Resource {
			case workloadSpreadsResource:
				caches.spreads.Missing()
			case persistentPodStatesResource:
				caches.states.Missing()
			}
		},
	}
	return running.Run(ctx, m.controllers(caches))
}

// controllers returns those that run, which read the caches.
func (m *Manager) controllers(caches *caches) (run []controllers.Controller) {
	for _, k := range m.config.kinds {
		if k.name != "" {
			run = append(run, controllers.Controller{
				Name: k.name, Gate: k.gate, OrGate: k.orGate, Resource: k.resource,
				Compose: func(ctx context.Context, own *controllers.Own) (podwright.Kind, error) {
					p := m.parts(own, caches)
					if err := p.look(ctx, &k); err != nil {
						return podwright.Kind{}, err
					}
					return k.compose(ctx, p)
				},
			})
		}
	}
	return controllers.Enabled(run, m.gates)
}

// parts returns what a controller is composed of.
func (m *Manager) parts(own *controllers.Own, caches *caches) *parts {
	return &parts{
		Own: own, caches: caches, namespace: m.config.Namespace, ownNamespace: m.config.OwnNamespace, cacheSyncTimeout: m.config.CacheSyncTimeout,
		gates: m.gates, webhooks: m.config.Webhook.Enabled,
	}
}

// describe returns the controllers that run, as they are for manifests. Nothing is asked of the API server.
func (m *Manager) describe() (*podwrightmanager.Set, error) {
	caches, err := m.newCaches(&rest.Config{})
	if err != nil {
		return nil, err
	}
	kinds, err := controllers.Describe(m.controllers(caches))
	if err != nil {
		return nil, err
	}
	return podwrightmanager.New(podwrightmanager.Options{}, kinds...)
}

// definitions returns the CRDs of what the controllers manage.
func (m *Manager) definitions() ([]*unstructured.Unstructured, error) {
	set, err := m.describe()
	if err != nil {
		return nil, err
	}
	return set.CRDs(), nil
}

// webhooks returns the kinds with webhooks.
func (m *Manager) webhooks() (*podwrightmanager.Set, error) {
	var kinds []podwright.Kind
	for _, kind := range m.config.kinds {
		if kind.webhook == nil {
			continue
		}
		described, err := kind.webhook(m.admissions)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, described.WebhookOnly())
	}
	var exempt []string
	if m.gates.Enabled(features.WebhooksExemptKubeSystem) {
		exempt = []string{metav1.NamespaceSystem}
	}
	return podwrightmanager.New(podwrightmanager.Options{
		Kubernetes: m.admissions.Interface, LookAgain: lookAgain, ExemptNamespaces: exempt,
		FailurePolicies: map[string]admissionv1.FailurePolicyType{podwebhook.MutatePath: admissionv1.FailurePolicyType(m.config.PodFailurePolicy)},
	}, kinds...)
}

// serve composes the webhooks.
func (m *Manager) serve(config *rest.Config) (err error) {
	if m.admissions, err = m.newAdmissions(config); err != nil {
		return err
	}
	m.served, err = m.webhooks()
	return err
}

// handlers returns what answers the API server, by path.
func (m *Manager) handlers() map[string]http.Handler {
	handlers := deletion.Counted(m.served.Handlers(), deletions)
	maps.Copy(handlers, webhooks.Conversions())
	return handlers
}
