// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/kit/webhooks"
	"github.com/podwright/podwright/examples/manager/app"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// injectFrom is the annotation by which an injector knows what to write to.
const injectFrom = "cert-manager.io/inject-ca-from"

// authority plays a program that makes certificates.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{key: key}
	a.cert = a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, key)
	return a
}

// sign returns a certificate for a key; that of the authority itself if it has none yet.
func (a authority) sign(t *testing.T, template *x509.Certificate, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	var err error
	if template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62)); err != nil {
		t.Fatal(err)
	}
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent := a.cert
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func toPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// secret is the data of a Secret with a new certificate for the host.
func (a authority) secret(t *testing.T) map[string][]byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	leaf := a.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, key)
	return map[string][]byte{"ca.crt": toPEM("CERTIFICATE", a.cert.Raw), "tls.crt": toPEM("CERTIFICATE", leaf.Raw), "tls.key": toPEM("EC PRIVATE KEY", encoded)}
}

// provide writes the Secret.
func (w *fixture) provide(data map[string][]byte) {
	w.Helper()
	secrets := w.kubernetes.CoreV1().Secrets("kruise-system")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "kruise-webhook-certs"}, Data: data}
	_, err := secrets.Update(w.Context(), secret, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = secrets.Create(w.Context(), secret, metav1.CreateOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// inject writes a caBundle to all that has the annotation, as an injector does once.
func (w *fixture) inject(ctx context.Context, bundle []byte) error {
	admission := w.kubernetes.AdmissionregistrationV1()
	mutating := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		c, err := admission.MutatingWebhookConfigurations().Get(ctx, podwrightmanager.MutatingName, metav1.GetOptions{})
		if err != nil || c.Annotations[injectFrom] == "" {
			return err
		}
		for i := range c.Webhooks {
			c.Webhooks[i].ClientConfig.CABundle = bundle
		}
		_, err = admission.MutatingWebhookConfigurations().Update(ctx, c, metav1.UpdateOptions{})
		return err
	})
	validating := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		c, err := admission.ValidatingWebhookConfigurations().Get(ctx, podwrightmanager.ValidatingName, metav1.GetOptions{})
		if err != nil || c.Annotations[injectFrom] == "" {
			return err
		}
		for i := range c.Webhooks {
			c.Webhooks[i].ClientConfig.CABundle = bundle
		}
		_, err = admission.ValidatingWebhookConfigurations().Update(ctx, c, metav1.UpdateOptions{})
		return err
	})
	definitions, err := w.dynamic.Resource(crds.Resource).List(ctx, metav1.ListOptions{})
	for i := range definitions.Items {
		if definitions.Items[i].GetAnnotations()[injectFrom] == "" {
			continue
		}
		patch := fmt.Appendf(nil, `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":%q}}}}}`, base64.StdEncoding.EncodeToString(bundle))
		_, again := w.dynamic.Resource(crds.Resource).Patch(ctx, definitions.Items[i].GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
		err = errors.Join(err, again)
	}
	return errors.Join(mutating, validating, err)
}

// ends returns what a manager ends with that cannot start.
func (w *fixture) ends() string {
	w.Helper()
	config := w.config
	config.WebhookInitializeTimeout = 3 * time.Second
	m, err := app.New(config)
	if err == nil {
		err = m.Run(w.Context())
	}
	if err == nil {
		w.Fatal("PF-5.4: a manager without certificates ends without an error")
	}
	return err.Error()
}

// answers tells whether the server presents a certificate of an authority, and the API server accepts it.
func (w *fixture) answers(a authority) error {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.config.Webhook.Port), &tls.Config{RootCAs: roots})
	if err != nil {
		return err
	}
	_ = connection.Close()
	return w.refusesWhatIsWrong()
}

// Another program provides the certificates of the webhooks. The manager waits for them, and ends with an error if they do not
// come in time. It writes none of them, and has no right to. It takes new ones without a restart. (PF-5.4)
func TestExternalCertificatesOnARealControlPlane(t *testing.T) {
	w := newFixture(t)
	w.config.InstallCRDs, w.config.Features.Gates = true, "EnableExternalCerts=true"
	w.config.Webhook.CertWriter, w.config.Webhook.Annotations = "", map[string]string{injectFrom: "kruise-system/webhooks"}
	w.config.Kubeconfig = w.account(t.Context(), w.config)
	if got := w.ends(); !strings.Contains(got, "there is no Secret kruise-system/kruise-webhook-certs") {
		t.Errorf("PF-5.4: no Secret: it ends with %s", got)
	}
	first := newAuthority(t)
	data := first.secret(t)
	w.provide(map[string][]byte{"ca.crt": data["ca.crt"], "tls.crt": data["tls.crt"]})
	if got := w.ends(); !strings.Contains(got, "it lacks tls.key") {
		t.Errorf("PF-5.4: an incomplete Secret: it ends with %s", got)
	}
	w.provide(data)
	if got := w.ends(); !strings.Contains(got, "there is no caBundle for") || !strings.Contains(got, injectFrom) {
		t.Errorf("PF-5.4: nothing is injected: it ends with %s", got)
	}
	if err := w.inject(t.Context(), newAuthority(t).secret(t)["ca.crt"]); err != nil {
		t.Fatal(err)
	}
	if got := w.ends(); !strings.Contains(got, "does not accept the certificate of the server") {
		t.Errorf("PF-5.4: a wrong authority: it ends with %s", got)
	}
	if err := w.inject(t.Context(), data["ca.crt"]); err != nil {
		t.Fatal(err)
	}
	secrets := w.kubernetes.CoreV1().Secrets("kruise-system")
	before, err := secrets.Get(t.Context(), "kruise-webhook-certs", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}

	running := w.start(w.config)
	w.eventually("PF-5.4: the webhooks answer", func() error { return w.answers(first) })
	w.createConverted()
	w.converts(data["ca.crt"])

	second := newAuthority(t)
	rotated := second.secret(t)
	w.provide(rotated)
	both := append(append([]byte{}, data["ca.crt"]...), rotated["ca.crt"]...)
	w.eventually("an injector", func() error { return w.inject(t.Context(), both) })
	w.eventually("PF-5.4: the server follows the Secret", func() error { return w.answers(second) })
	w.eventually("an injector", func() error { return w.inject(t.Context(), rotated["ca.crt"]) })
	w.eventually("PF-5.4: the former authority is trusted no more", func() error { return w.answers(second) })
	w.converts(rotated["ca.crt"])
	if err := running.stop(); err != nil {
		t.Errorf("PF-5.4: an orderly end gives %v", err)
	}
	after, err := secrets.Get(t.Context(), before.Name, metav1.GetOptions{})
	if err != nil || len(after.Data) != 3 || len(after.ManagedFields) != 1 {
		t.Errorf("PF-5.4: the Secret has the entries %d, writers %v, error %v", len(after.Data), after.ManagedFields, err)
	}
	w.keepsCABundles(rotated["ca.crt"])
}

// converts reads an object in the version that is not stored.
func (w *fixture) converts(bundle []byte) {
	w.Helper()
	w.eventually("PF-5.4: conversion", func() error {
		if err := w.inject(w.Context(), bundle); err != nil { // it may just have been registered
			return err
		}
		return w.readsConverted()
	})
}

// keepsCABundles finds what was injected, and no other, in all that leads to the webhooks.
func (w *fixture) keepsCABundles(bundle []byte) {
	w.Helper()
	validating, err := w.kubernetes.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(w.Context(), podwrightmanager.ValidatingName, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for i := range validating.Webhooks {
		if string(validating.Webhooks[i].ClientConfig.CABundle) != string(bundle) {
			w.Errorf("PF-5.4: %s has another caBundle", validating.Webhooks[i].Name)
		}
	}
	crd, err := w.dynamic.Resource(crds.Resource).Get(w.Context(), webhooks.ConvertedName, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle"); got != base64.StdEncoding.EncodeToString(bundle) {
		w.Error("PF-5.4: the definition has another caBundle")
	}
	if validating.Webhooks[0].FailurePolicy == nil || *validating.Webhooks[0].FailurePolicy != admissionregistrationv1.Fail {
		w.Error("PF-5.4: the webhooks are not registered")
	}
}
