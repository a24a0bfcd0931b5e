// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/kit/webhooks/certificates"
)

// New certificates are served without a restart, and the check trusts the current authority only.
func TestWebhookServerTakesNewCertificates(t *testing.T) {
	for _, address := range []string{"127.0.0.1", ""} {
		w, err := Listen(Options{BindAddress: address}, "kruise-system")
		if err != nil {
			t.Fatal(err)
		}
		server := w.runnable()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.Start(ctx) }()
		if err := w.check(ctx); err == nil {
			t.Error("PF-4: the server is ready without a certificate")
		}
		renew := func() certificates.Bundle {
			bundle, err := certificates.Renew(nil, "192.0.2.1", time.Now(), 0)
			if err != nil {
				t.Fatal(err)
			}
			return bundle
		}
		first := renew()
		for _, bundle := range []certificates.Bundle{first, renew()} {
			if err := errors.Join(w.use(ctx, bundle), w.check(ctx)); err != nil {
				t.Errorf("PF-4: the server is not ready on %s: %v", w.Address(), err)
			}
		}
		other := renew()
		other[certificates.Key], other[certificates.Cert] = first[certificates.Key], first[certificates.Cert]
		if err := w.use(ctx, other); err == nil {
			t.Error("PF-4: the server is ready although the current authority has not signed its certificate")
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	}
}

func TestCertificateNameAndFolder(t *testing.T) {
	service := Options{Service: "kruise-webhook-service"}
	at := func(host, writer string) Options {
		return Options{Service: service.Service, Host: host, CertWriter: writer}
	}
	for name, c := range map[string]struct {
		options Options
		name    string
		folder  bool
	}{
		"PF-5: by service":              {service, "kruise-webhook-service.ops.svc", false},
		"PF-5: by host":                 {at("hooks.example.com", ""), "hooks.example.com", true},
		"PF-5: by host, in the Secret":  {at("10.0.0.1", "secret"), "10.0.0.1", false},
		"PF-5: by service, in a folder": {at("", "fs"), "kruise-webhook-service.ops.svc", true},
	} {
		s := &Server{Options: c.options, Namespace: "ops"}
		if got := s.Name(); got != c.name || s.InFolder() != c.folder {
			t.Errorf("%s: %s, in a folder: %t; want %s, %t", name, got, s.InFolder(), c.name, c.folder)
		}
	}
}
