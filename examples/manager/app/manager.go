package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution"
	"github.com/podwright/podwright/examples/manager/certificates"
	"github.com/podwright/podwright/examples/manager/crds"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/metrics"
	"github.com/podwright/podwright/examples/manager/registration"
	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads"
)

// Certificates and registration must succeed in this time, and
// then the webhook server is asked this often whether it serves.
const (
	registrationTimeout = 20 * time.Second
	webhookPoll         = 2 * time.Second
)

// Manager runs the controllers and webhooks. New makes one.
type Manager struct {
	// Addresses are what the servers listen on.
	Addresses Addresses

	config  Config
	gates   features.Gates
	metrics *metrics.Metrics
	plain   []*process.Server // over HTTP
	// patience is how long the registration of the webhooks may take.
	patience time.Duration
	hooks    *webhookServer // nil without webhooks
}

// Run runs a manager until the context is done. See Manager.Run.
func Run(ctx context.Context, config Config) error {
	m, err := New(config)
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// New checks the configuration and opens the listeners. A Manager that is made
// must be run: that closes them.
func New(config Config) (*Manager, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("wrong configuration:\n%w", err)
	}
	gates, err := features.Parse(config.FeatureGates, config.CustomResources)
	if err != nil {
		return nil, err
	}
	m := &Manager{config: config, gates: gates, metrics: metrics.NewManager(), patience: registrationTimeout}
	if err := m.listen(); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// listen opens all listeners.
func (m *Manager) listen() error {
	profiles := http.NewServeMux()
	profiles.HandleFunc("/debug/pprof/", pprof.Index)
	profiles.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	profiles.HandleFunc("/debug/pprof/profile", pprof.Profile)
	profiles.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	profiles.HandleFunc("/debug/pprof/trace", pprof.Trace)
	numbers := http.NewServeMux()
	numbers.Handle("GET /metrics", m.metrics.Handler())
	for _, plain := range []struct {
		name, address string
		handler       http.Handler
		listensOn     *string
	}{
		{"metrics", m.config.MetricsAddr, numbers, &m.Addresses.Metrics},
		{"health", m.config.HealthProbeAddr, process.HealthHandler(m.health(), m.readiness()), &m.Addresses.HealthProbe},
		{"pprof", m.config.PprofAddr, profiles, &m.Addresses.Pprof},
	} {
		if off(plain.address) {
			continue
		}
		server, err := process.Listen(plain.name, plain.address, plain.handler)
		if err != nil {
			return err
		}
		m.plain = append(m.plain, server)
		*plain.listensOn = server.Address()
	}
	if m.config.Webhook.Enabled {
		var err error
		if m.hooks, err = newWebhookServer(m.config.Webhook); err != nil {
			return err
		}
		m.Addresses.Webhook = m.hooks.Address()
	}
	return nil
}

// close closes the listeners that no server has closed.
func (m *Manager) close() {
	for _, server := range m.plain {
		server.Listener.Close()
	}
	if m.hooks != nil {
		m.hooks.Listener.Close()
	}
}

func (m *Manager) health() []process.Check { return []process.Check{process.Ping()} }

func (m *Manager) readiness() []process.Check {
	if !m.config.Webhook.Enabled {
		return m.health()
	}
	return []process.Check{{Name: "webhook-ready", Run: func(request *http.Request) error { return m.hooks.check(request.Context()) }}}
}

// Run works until the context is done, and then ends in order: controllers
// first, then the Lease, the registration of the webhooks, and the servers. It
// returns an error when the start fails or the leader election is lost. It can be
// called once.
func (m *Manager) Run(ctx context.Context) error {
	defer m.close()
	m.logGates(ctx)
	if m.config.Started != nil {
		m.config.Started(m.Addresses)
	}
	// The servers outlive the work: webhooks and probes are answered to the end.
	servers, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	serving, servers := errgroup.WithContext(servers)
	for _, server := range m.plain {
		serving.Go(func() error { return server.Run(servers, nil) })
	}

	working, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(servers, cancel)() // a server has failed
	err := m.work(working, serving, servers)
	stop()
	return errors.Join(err, serving.Wait())
}

// work prepares the cluster, registers the webhooks and runs the controllers.
func (m *Manager) work(ctx context.Context, serving *errgroup.Group, servers context.Context) error {
	config, err := m.connection(ctx)
	if err != nil {
		return err
	}
	client, err := kubernetesClient(config, "")
	if err != nil {
		return err
	}
	definitions, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	err = m.prepare(ctx, config.Host, client, definitions)
	if err == nil {
		err = m.serveWebhooks(ctx, client, definitions, serving, servers)
	}
	if err == nil {
		err = m.lead(ctx, config, func(ctx context.Context, config *rest.Config) error {
			return m.runControllers(ctx, config, discovery.ToDiscoveryInterfaceWithContext(client.Discovery()))
		})
	}
	if ctx.Err() != nil && !errors.Is(err, errLeaseLost) {
		return nil // told to end
	}
	return err
}

// prepare finds out whether the API server answers, and creates what the manager is
// asked to create.
func (m *Manager) prepare(ctx context.Context, host string, client kubernetes.Interface, anyKind dynamic.Interface) error {
	version, err := discovery.ToDiscoveryInterfaceWithContext(client.Discovery()).ServerVersionWithContext(ctx)
	if err != nil {
		return fmt.Errorf("the API server %s does not answer: %w", host, err)
	}
	klog.FromContext(ctx).Info("Connected", "kubernetes", version.GitVersion)
	if m.config.CreateOwnNamespace {
		if err := createNamespace(ctx, client, m.config.OwnNamespace); err != nil {
			return err
		}
	}
	if !m.config.InstallCRDs {
		return nil
	}
	return crds.Install(ctx, anyKind, m.definitions())
}

// definitions returns the CRDs of what the controllers look after.
func (m *Manager) definitions() []*unstructured.Unstructured {
	var resources []schema.GroupVersionResource
	for _, controller := range m.controllers() {
		resources = append(resources, controller.resource)
	}
	return crds.Of(slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs()), resources...)
}

// serveWebhooks serves the webhooks and returns when the API server can call
// them. The registration goes on until the context is done.
func (m *Manager) serveWebhooks(ctx context.Context, client kubernetes.Interface, definitions dynamic.Interface, serving *errgroup.Group, servers context.Context) error {
	if m.hooks == nil {
		return nil
	}
	handlers := webhookHandlers(client, m.gates)
	m.hooks.handle(handlers, m.metrics)
	loop := registration.New(m.registration(client, definitions, handlers))
	serving.Go(func() error { return m.hooks.run(servers) })
	serving.Go(func() error { return loop.Run(ctx) })
	select {
	case <-loop.Succeeded():
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(m.patience):
		return fmt.Errorf("webhook certificates and registration are not in order after %v: %w", m.patience, loop.LastError())
	}
	for {
		err := m.hooks.check(ctx)
		if err == nil {
			klog.FromContext(ctx).Info("Webhooks are ready", "address", m.Addresses.Webhook)
			return nil
		}
		klog.FromContext(ctx).Info("Waiting for the webhook server", "reason", err.Error())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(webhookPoll):
		}
	}
}

func (m *Manager) registration(client kubernetes.Interface, definitions dynamic.Interface, handlers map[string]http.Handler) registration.Config {
	config := registration.Config{
		Kubernetes:  client,
		Definitions: definitions,
		Namespace:   m.config.OwnNamespace,
		Host:        m.config.host(),
		Target:      m.hooks.target(&m.config, m.gates, handlers),
		Register:    m.config.Webhook.Register,
		Use: func(ctx context.Context, bundle certificates.Bundle) error {
			return errors.Join(m.hooks.use(bundle), m.hooks.check(ctx))
		},
	}
	if m.config.certificatesInFolder() {
		config.Folder = m.config.Webhook.CertDir
	} else {
		config.Secret = m.config.Webhook.Secret
	}
	return config
}

// logGates says which settings do nothing.
func (m *Manager) logGates(ctx context.Context) {
	logger := klog.FromContext(ctx)
	if len(m.gates.WithoutEffect) > 0 {
		logger.Info("Feature gates without effect: this manager does not run what they switch", "gates", m.gates.WithoutEffect)
	}
	if len(m.gates.ForcedOff) > 0 {
		logger.Info("Feature gates turned off, because the gate that they need is off", "gates", m.gates.ForcedOff)
	}
}
