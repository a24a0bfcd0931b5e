// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/manager"
)

// PF-5: what others write into the webhook configurations is taken back.
func TestWebhookConfigurationsAreEdited(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	patch := []byte(`[{"op":"replace","path":"/webhooks/0/timeoutSeconds","value":29}]`)
	mutating := s.Core.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err := mutating.Patch(t.Context(), manager.MutatingName, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	validating := s.Core.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := validating.Patch(t.Context(), manager.ValidatingName, types.JSONPatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("both are as before", func() string {
		m, err := mutating.Get(t.Context(), manager.MutatingName, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		v, err := validating.Get(t.Context(), manager.ValidatingName, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if one, two := *m.Webhooks[0].TimeoutSeconds, *v.Webhooks[0].TimeoutSeconds; one != 10 || two != 10 {
			return fmt.Sprintf("timeouts of %d and %d seconds", one, two)
		}
		return ""
	})
}

// Certificates that are missing are made anew, and the webhooks are called with them.
func testCertificatesAreLost(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	secrets := s.Core.CoreV1().Secrets("kruise-system")
	before, err := secrets.Get(t.Context(), "kruise-webhook-certs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	emptied := []byte(`{"data":{"cert.pem":null,"key.pem":null,"tls.crt":null,"tls.key":null}}`)
	if _, err := secrets.Patch(t.Context(), before.Name, types.MergePatchType, emptied, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.AwaitAsking("PF-5: other certificates", func() string {
		now, err := secrets.Get(t.Context(), before.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		if cert := now.Data["cert.pem"]; len(cert) == 0 || bytes.Equal(cert, before.Data["cert.pem"]) || !bytes.Equal(cert, now.Data["tls.crt"]) {
			return fmt.Sprintf("keys %d, the certificate: %s", len(now.Data), cert)
		}
		return ""
	})
	if err := s.Manager.AwaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.webhooksAreCalled(t.Context()); err != nil {
		t.Fatal(err)
	}
}
