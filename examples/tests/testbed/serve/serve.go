// SPDX-License-Identifier: Apache-2.0

// Package serve serves admission webhooks to an API server on this machine, for demos and measurements.
package serve

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Webhooks registers webhooks under a name and serves them by the handlers of their paths, until the context is done.
// Then they are registered no more. The paths are those of the services in their ClientConfig. What has no handler is
// left out. The API server calls them a moment after they are registered.
func Webhooks(ctx context.Context, client kubernetes.Interface, name string, handlers map[string]http.Handler,
	mutating []admissionregistrationv1.MutatingWebhook, validating []admissionregistrationv1.ValidatingWebhook) (err error) {
	mux := http.NewServeMux()
	for path, handler := range handlers {
		mux.Handle(path, handler)
	}
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	served := func(c *admissionregistrationv1.WebhookClientConfig) bool {
		path := *c.Service.Path
		*c = admissionregistrationv1.WebhookClientConfig{URL: new(server.URL + path), CABundle: authority}
		return handlers[path] != nil
	}
	meta := metav1.ObjectMeta{Name: name}
	m := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta}
	for _, w := range mutating {
		if served(&w.ClientConfig) {
			m.Webhooks = append(m.Webhooks, w)
		}
	}
	v := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}
	for _, w := range validating {
		if served(&w.ClientConfig) {
			v.Webhooks = append(v.Webhooks, w)
		}
	}
	mutations, validations := client.AdmissionregistrationV1().MutatingWebhookConfigurations(), client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	ends := func(remove func(context.Context, string, metav1.DeleteOptions) error) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := remove(ctx, name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}
	if len(m.Webhooks) > 0 {
		if _, err := mutations.Create(ctx, m, metav1.CreateOptions{}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ends(mutations.Delete)) }()
	}
	if len(v.Webhooks) > 0 {
		if _, err := validations.Create(ctx, v, metav1.CreateOptions{}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, ends(validations.Delete)) }()
	}
	<-ctx.Done()
	return nil
}
