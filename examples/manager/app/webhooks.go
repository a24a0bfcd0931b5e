// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/podwright/podwright/examples/manager/certificates"
	"github.com/podwright/podwright/examples/process"
)

// webhookServer serves webhooks with certificates that may change meanwhile.
type webhookServer struct {
	listener net.Listener
	current  atomic.Pointer[certificates.Bundle]
	// registered is closed once the API server knows them.
	registered chan struct{}
}

// server serves the handlers, by path, and counts and times them.
func (w *webhookServer) server(handlers map[string]http.Handler) *manager.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	measured := ctrlwebhook.NewServer(ctrlwebhook.Options{WebhookMux: mux})
	for path, handler := range handlers {
		measured.Register(path, handler)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		current := w.current.Load()
		if current == nil {
			return nil, errors.New("the webhook server has no certificate yet")
		}
		pair, err := current.KeyPair()
		return &pair, err
	}}
	return &manager.Server{
		Name: "webhooks", Listener: tls.NewListener(w.listener, config),
		Server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: process.ErrorLog(klog.Background())},
	}
}

// use takes the certificates for new connections, and returns once they are presented.
func (w *webhookServer) use(ctx context.Context, bundle certificates.Bundle) error {
	w.current.Store(&bundle)
	return w.check(ctx)
}

// check makes a request to the server as the API server would, trusting the current authority only.
func (w *webhookServer) check(ctx context.Context) error {
	current := w.current.Load()
	if current == nil {
		return errors.New("there is no certificate yet")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: current.Roots(), ServerName: "localhost"},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+w.listener.Addr().String()+"/healthz", nil)
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
