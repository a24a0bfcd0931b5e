package app

import (
	"context"
	"testing"
	"time"

	"github.com/podwright/podwright/examples/manager/certificates"
)

// New certificates are served without a restart, and the check trusts the
// current CA only.
func TestWebhookServerTakesNewCertificates(t *testing.T) {
	for _, address := range []string{"127.0.0.1", ""} {
		server, err := newWebhookServer(Webhook{BindAddress: address})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- server.run(ctx) }()
		if err := server.check(ctx); err == nil {
			t.Error("PF-4: the server is ready without a certificate")
		}
		for range 2 {
			bundle, err := certificates.Renew(certificates.Bundle{}, "192.0.2.1", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if err := server.use(bundle); err != nil {
				t.Fatal(err)
			}
			if err := server.check(ctx); err != nil {
				t.Errorf("PF-4: the server is not ready on %s: %v", server.Address(), err)
			}
		}
		// Another CA is known than the one that signed the certificate.
		current := *server.current.Load()
		other, err := certificates.Renew(certificates.Bundle{}, "192.0.2.1", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := server.use(certificates.Bundle{CAKey: other.CAKey, CACert: other.CACert, Key: current.bundle.Key, Cert: current.bundle.Cert}); err != nil {
			t.Fatal(err)
		}
		if err := server.check(ctx); err == nil {
			t.Error("PF-4: the server is ready although the current CA has not signed its certificate")
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ends with %v", err)
		}
	}
}
