// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Path is where Handler is served, unless the definition says otherwise.
const Path = "/convert"

// Handler answers the API server's ConversionReviews (apiextensions.k8s.io/v1)
// for every kind that SetWebhook knows. An object that cannot be converted is
// answered by a failure that names the object and what is wrong with it, and
// that the user reads whose request needs it.
//
// Conversion needs no client and keeps nothing: every replica can serve it,
// whether it leads or not.
func Handler() http.Handler { return admission.ConversionHandler(StatefulSet) }

// SetWebhook changes a CustomResourceDefinition (one of workloads.CRDs) to have
// the API server ask the webhook that the client configuration leads to, which
// serves Handler. A definition of a kind that has one version only is left as
// it is.
//
// The definitions come without a webhook, because only the caller knows where
// Handler runs, and because a definition that names a webhook which nobody
// serves is worse than one that names none: every v1alpha1 request would fail,
// while requests in v1beta1, the version in which StatefulSets are stored, need
// no conversion in either case. So call this where Handler is served, after the
// server has its certificate.
//
// The configuration leads to a service in the cluster or to a URL; exactly one
// of them must be given. A service without a path gets Path, and one without a
// port 443; a URL is used as it is. An error says what is wrong with the
// configuration or the definition, which is then unchanged.
func SetWebhook(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	if crd.GetName() != v1beta1.Resource("statefulsets").String() {
		return nil
	}
	if client.Service == nil && client.URL == nil {
		return fmt.Errorf("conversion webhook of %s: want a service or a URL, got neither", crd.GetName())
	}
	if client.Service != nil && client.URL != nil {
		return fmt.Errorf("conversion webhook of %s: want a service or a URL, got both", crd.GetName())
	}
	if client.Service != nil {
		service := *client.Service
		service.Path = ptr.To(ptr.Deref(service.Path, Path))
		service.Port = ptr.To(ptr.Deref(service.Port, 443))
		client.Service = &service
	}
	config, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&client)
	if err != nil {
		return fmt.Errorf("conversion webhook of %s: %w", crd.GetName(), err)
	}
	err = unstructured.SetNestedMap(crd.Object, map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"clientConfig":             config,
			"conversionReviewVersions": []any{"v1"},
		},
	}, "spec", "conversion")
	if err != nil {
		return fmt.Errorf("conversion webhook of %s: %w", crd.GetName(), err)
	}
	return nil
}
