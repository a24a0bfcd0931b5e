// SPDX-License-Identifier: Apache-2.0

// Package webhooks serves admission and conversion webhooks, and tells the API server to call them. It keeps the
// certificates of the server and the conversion webhook of a CustomResourceDefinition in order. The two webhook configurations
// are for package manager of the library: it is told of a new authority, and asked to look again.
package webhooks

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/permissions"
	"github.com/podwright/podwright/examples/kit/serve"
	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// Options says how webhooks are served; the flags of the manager say what the fields mean.
type Options struct {
	Enabled, Register bool
	// ServeV1beta1 has kinds served as v1beta1, too, whose definitions come with v1alpha1 alone. It takes Register.
	ServeV1beta1                bool
	BindAddress                 string
	Port                        int
	Host, Service               string
	Secret, CertDir, CertWriter string
	// RenewBefore is how long before their end certificates are renewed, 9 years at most; 0 for half a year.
	RenewBefore time.Duration
	// External has another program provide the certificates, such as cert-manager. This one only reads the Secret, and looks
	// at the caBundles that lead to the server. Annotations are those of what is registered, for that program.
	External    bool
	Annotations map[string]string
}

// InFolder tells whether the certificates are kept in a folder, and not in the Secret.
func (o *Options) InFolder() bool {
	return !o.External && (o.CertWriter == "fs" || o.CertWriter == "" && o.Host != "")
}

// Permissions returns what a server asks of the API server for itself; the namespace is that of its Secret.
func (o *Options) Permissions(namespace string) (needed []permissions.Part) {
	if o.Enabled && o.Register {
		needed = append(needed, permissions.Part{Rules: []rbacv1.PolicyRule{
			permissions.Rule("list watch patch", crds.Resource.Group, crds.Resource.Resource, ConvertedName),
		}}, permissions.Part{Rules: podwrightmanager.RegistrationRules()})
		// What a cluster stores, its definitions say.
		needed[0].Rules = append(needed[0].Rules, permissions.Rule("get patch", crds.Resource.Group, crds.Resource.Resource, namesOnDemand()...))
	}
	switch {
	case o.Enabled && o.External:
		needed = append(needed, o.externalPermissions(namespace)...)
	case o.Enabled && !o.InFolder():
		needed = append(needed, permissions.Part{Namespace: namespace, Rules: []rbacv1.PolicyRule{
			permissions.Rule("create", "", "secrets"),
			permissions.Rule("list watch patch", "", "secrets", o.Secret),
		}})
	}
	return needed
}

// Registrar keeps the configurations of webhooks in order; a Set of package manager does.
type Registrar interface {
	Register(context.Context, podwrightmanager.Target) (written bool, err error)
	Watch(ctx context.Context, changed func()) error
}

// Server serves webhooks with certificates that may change meanwhile. It watches the certificates and what is registered,
// and looks at them once a minute. While nothing changes it sends no request, but for reading the definitions that
// can have v1beta1. Listen makes one; before AddTo it is told
// what to serve.
//
// A definition that it may not touch, or that does not exist, keeps nothing else from working.
type Server struct {
	Options
	// Namespace is that of the Service and of the Secret.
	Namespace string
	// Handlers are what is served, by path.
	Handlers map[string]http.Handler
	// Webhooks registers the handlers that are admission webhooks. Required if Options.Register is set.
	Webhooks Registrar

	listener net.Listener
	url      string // where the API server reaches it without a Service; empty: by the Service
	client   client.Client
	live     client.Reader // asks the API server
	// current is what is presented, and used what the server is known to answer with.
	current atomic.Pointer[certificates.Bundle]
	used    certificates.Bundle
	present func(context.Context, certificates.Bundle) error
	last    atomic.Pointer[error] // of the registration
	plain   plain
	// converted are the definitions that lead to the server, and what of other programs is not in order was said last.
	converted map[string]*unstructured.Unstructured
	said      said
	target    atomic.Pointer[podwrightmanager.Target]
	// again asks for a look, and soon for one in a moment.
	again, soon chan struct{}
	// succeeded closes registered.
	registered chan struct{}
	succeeded  func()
}

// Listen opens the port. Who does not run the server closes it.
func Listen(o Options, namespace string) (*Server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(o.BindAddress, strconv.Itoa(o.Port)))
	if err != nil {
		return nil, err
	}
	s := &Server{Options: o, Namespace: namespace, listener: listener, converted: map[string]*unstructured.Unstructured{}, registered: make(chan struct{}), again: make(chan struct{}, 1), soon: make(chan struct{}, 1)}
	s.present, s.succeeded = s.use, sync.OnceFunc(func() { close(s.registered) })
	if _, port, _ := net.SplitHostPort(s.Address()); o.Host != "" {
		s.url = "https://" + net.JoinHostPort(o.Host, port)
	}
	return s, nil
}

// Address returns what the server listens on.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close closes the port.
func (s *Server) Close() error { return s.listener.Close() }

// Look has everything looked at again soon, since the conditions are others.
func (s *Server) Look() { ask(s.again) }

// ask asks for a look, unless that was asked already.
func ask(look chan struct{}) {
	select {
	case look <- struct{}{}:
	default:
	}
}

// Name is what the server certificate is for: a DNS name or an IP address.
func (s *Server) Name() string { return cmp.Or(s.Host, s.Service+"."+s.Namespace+".svc") }

// Target returns how the API server reaches the server, since it is registered; nil before that, and if another program registers it.
func (s *Server) Target() *podwrightmanager.Target { return s.target.Load() }

// Await returns once the webhooks are registered and answer, or the context is done. It returns an error when that
// takes longer than it may.
func (s *Server) Await(ctx context.Context, patience time.Duration) error {
	select {
	case <-ctx.Done():
	case <-s.registered:
		klog.FromContext(ctx).Info("Webhooks are ready", "address", s.Address())
	case <-time.After(patience):
		last := errors.New("nothing has been looked at yet")
		if err := s.last.Load(); err != nil {
			last = *err
		}
		return fmt.Errorf("webhook certificates and registration are not in order after %v: %w", patience, last)
	}
	return nil
}

// Plain tells whether the server has just read a definition, which stores nothing as v1beta1 and is not to be served in it.
func (s *Server) Plain(name string) bool { return !s.ServeV1beta1 && s.plain.just(name) }

// runnable serves the handlers, and counts and times them.
func (s *Server) runnable() *manager.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	measured := ctrlwebhook.NewServer(ctrlwebhook.Options{WebhookMux: mux})
	for path, handler := range s.Handlers {
		measured.Register(path, handler)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		current := s.current.Load()
		if current == nil {
			return nil, errors.New("the webhook server has no certificate yet")
		}
		pair, err := current.KeyPair()
		return &pair, err
	}}
	return &manager.Server{
		Name: "webhooks", Listener: tls.NewListener(s.listener, config),
		Server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: serve.ErrorLog(klog.Background())},
	}
}

// use takes the certificates for new connections, and returns once they are presented.
func (s *Server) use(ctx context.Context, bundle certificates.Bundle) error {
	s.current.Store(&bundle)
	return s.check(ctx)
}

// checkedName is one that the certificate is for. Those of other programs have the one that the API server asks for alone.
func (s *Server) checkedName() string {
	if s.External {
		return s.Name()
	}
	return "localhost"
}

// Check makes a request to the server as the API server would, trusting the current authority only.
func (s *Server) Check(request *http.Request) error { return s.check(request.Context()) }

func (s *Server) check(ctx context.Context) error {
	current := s.current.Load()
	if current == nil {
		return errors.New("there is no certificate yet")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: current.Roots(), ServerName: s.checkedName()},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.Address()+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the webhook server answers %s", response.Status)
	}
	return nil
}
