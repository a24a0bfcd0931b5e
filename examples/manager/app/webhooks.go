package app

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/examples/manager/certificates"
	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/metrics"
	"github.com/podwright/podwright/examples/manager/registration"
	"github.com/podwright/podwright/examples/process"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/conversion"
	"github.com/podwright/podwright/workloads/statefulset"
)

// webhookHandlers returns the webhooks that are served, by path. Pods are
// asked for one by one: they matter only to the rare change of podsToDelete and
// to new ContainerRecreateRequests, which need the newest state, so replicas that
// do not lead keep no cache of pods.
func webhookHandlers(client kubernetes.Interface, gates features.Gates) map[string]http.Handler {
	getPod := func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
		return client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	noDefaults := gates.Enabled(features.TemplateNoDefaults)
	unprotected := !gates.Enabled(features.ResourcesDeletionProtection)
	cloneSets := &cloneset.Webhook{
		TemplateNoDefaults:        noDefaults,
		DisableDeletionProtection: unprotected,
		Pods:                      getPod,
		Templates:                 workloads.DryRun(client.CoreV1()),
	}
	statefulSets := &statefulset.Webhook{
		TemplateNoDefaults:        noDefaults,
		DisableDeletionProtection: unprotected,
		Templates:                 workloads.DryRun(client.CoreV1()),
	}
	noAgents := !gates.Enabled(features.KruiseDaemon)
	pullJobs := &imagepulljob.Webhook{NoAgents: noAgents}
	nodeImages := &nodeimage.Webhook{NoAgents: noAgents}
	recreateRequests := &recreate.Webhook{Pods: getPod, Disabled: noAgents}
	served := map[string]http.Handler{conversion.Path: conversion.Handler()}
	maps.Copy(served, cloneSets.Handlers())
	maps.Copy(served, statefulSets.Handlers())
	maps.Copy(served, pullJobs.Handlers())
	maps.Copy(served, nodeImages.Handlers())
	maps.Copy(served, recreateRequests.Handlers())
	if gates.Enabled(features.PodWebhook) {
		pods := &podwebhook.Webhook{Readiness: podreadiness.Mutate, LaunchPriority: launchpriority.Mutate}
		if gates.Enabled(features.KruisePodReadinessGate) {
			pods.Readiness = podreadiness.MutateAll
		}
		maps.Copy(served, pods.Handlers())
	}
	return served
}

// webhookServer serves webhooks with certificates that may change
// while it runs.
type webhookServer struct {
	*process.Server
	mux     *http.ServeMux
	current atomic.Pointer[identity]
}

// identity is a bundle ready for use.
type identity struct {
	bundle certificates.Bundle
	pair   tls.Certificate
	roots  *x509.CertPool
}

func newWebhookServer(w Webhook) (*webhookServer, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	server, err := process.Listen("webhooks", net.JoinHostPort(w.BindAddress, strconv.Itoa(w.Port)), mux)
	if err != nil {
		return nil, err
	}
	return &webhookServer{Server: server, mux: mux}, nil
}

// handle serves the webhooks. It is called before run.
func (s *webhookServer) handle(handlers map[string]http.Handler, m *metrics.Metrics) {
	for path, handler := range handlers {
		s.mux.Handle(path, m.Webhook(path, handler))
	}
}

// use takes the certificates for new connections.
func (s *webhookServer) use(bundle certificates.Bundle) error {
	if current := s.current.Load(); current != nil && bytes.Equal(current.bundle.Cert, bundle.Cert) && bytes.Equal(current.bundle.CACert, bundle.CACert) {
		return nil
	}
	pair, err := bundle.KeyPair()
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle.CACert)
	s.current.Store(&identity{bundle, pair, roots})
	return nil
}

func (s *webhookServer) run(ctx context.Context) error {
	return s.Server.Run(ctx, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			current := s.current.Load()
			if current == nil {
				return nil, errors.New("the webhook server has no certificate yet")
			}
			return &current.pair, nil
		},
	})
}

// check makes a request to the server as the API server would, trusting the
// current CA only.
func (s *webhookServer) check(ctx context.Context) error {
	current := s.current.Load()
	if current == nil {
		return errors.New("there is no certificate yet")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: current.roots},
		// The name is that of the certificate, the address that of the listener.
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.dialAddress())
		},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://localhost:"+port+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the webhook server answers %s", response.Status)
	}
	return nil
}

// dialAddress is the address of the listener, or the loopback one where it
// listens on all.
func (s *webhookServer) dialAddress() string {
	address, _ := s.Listener.Addr().(*net.TCPAddr)
	if address == nil || address.IP.IsUnspecified() {
		_, port, _ := net.SplitHostPort(s.Address())
		return net.JoinHostPort("localhost", port)
	}
	return address.String()
}

// target says how the API server reaches the webhooks.
func (s *webhookServer) target(c *Config, gates features.Gates, handlers map[string]http.Handler) registration.Target {
	target := registration.Target{
		Namespace: c.OwnNamespace, Service: c.Webhook.Service,
		AllPods: gates.Enabled(features.KruisePodReadinessGate),
		Serves:  func(path string) bool { return handlers[path] != nil },
	}
	if c.Webhook.Host != "" {
		_, port, _ := net.SplitHostPort(s.Address())
		target.URL = "https://" + net.JoinHostPort(c.Webhook.Host, port)
	}
	return target
}
