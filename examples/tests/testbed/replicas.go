// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/cluster"
)

// Replicas are managers that serve the webhooks together: as behind a Service, each request goes to the next one that runs.
// They present the same certificates, of the Secret that one of them has created.
type Replicas struct {
	All    []*Manager
	server *http.Server
	next   atomic.Uint64
}

// NewReplicas returns managers that are not yet started, at one address for the API server, until they are closed.
func (b *Testbed) NewReplicas(n int, arguments ...string) (*Replicas, error) {
	address, err := cluster.FreePort()
	if err != nil {
		return nil, err
	}
	port := fmt.Sprint(address)
	r := &Replicas{}
	var hosts []string
	for i := range n {
		host := fmt.Sprintf("127.0.0.%d", i+2)
		m, err := b.NewManager(fmt.Sprint("replica-", i), append([]string{"--webhook-bind-address=" + host, "--webhook-port=" + port}, arguments...)...)
		if err != nil {
			return nil, err
		}
		r.All, hosts = append(r.All, m), append(hosts, net.JoinHostPort(host, port))
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = "https", hosts[r.turn()] },
		// It is the machine's own, and the certificate is for the address at which the API server asks.
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // as said
	}
	r.server = &http.Server{Handler: proxy, TLSConfig: &tls.Config{GetCertificate: b.webhookCertificate}} //nolint:gosec // no client is slow here
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil, err
	}
	go func() { _ = r.server.ServeTLS(listener, "", "") }()
	return r, nil
}

// turn is whose turn it is. One that does not run is left out, unless none does.
func (r *Replicas) turn() int {
	n := uint64(len(r.All))
	first := r.next.Add(1)
	for i := range n {
		if which := int((first + i) % n); r.All[which].Running() {
			return which
		}
	}
	return int(first % n)
}

// Close kills all of them.
func (r *Replicas) Close() {
	for _, m := range r.All {
		m.Kill()
	}
	r.server.Close()
}

// webhookCertificate is what managers present that keep their certificates in a Secret.
func (b *Testbed) webhookCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	secret, err := b.Core.CoreV1().Secrets("kruise-system").Get(hello.Context(), "kruise-webhook-certs", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	return &certificate, err
}
