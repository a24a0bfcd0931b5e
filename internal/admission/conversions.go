// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"net/http"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
)

// Conversions are those that one webhook converts.
type Conversions struct {
	// Path is that of the webhook, unless a definition says otherwise.
	Path string
	// All are the kinds.
	All []*Conversion
}

// Handler answers the API server's ConversionReviews for the kinds.
func (k Conversions) Handler() http.Handler { return ConversionHandler(k.convert) }

// convert converts an object of one of the kinds, see Conversion.Convert.
func (k Conversions) convert(object []byte, apiVersion string) ([]byte, error) {
	d, err := parseDocument(object)
	if err != nil {
		return nil, fmt.Errorf("want an object as JSON: %w", err)
	}
	var names []string
	for _, kind := range k.All {
		if d.text("kind") == kind.Kind {
			return kind.convertParsed(object, d, apiVersion)
		}
		names = append(names, kind.Kind)
	}
	return nil, fmt.Errorf("kind: want %s, got %q", strings.Join(names, ", "), d.text("kind"))
}

// SetWebhook names the webhook in a definition of a kind whose CRD has both
// versions. Every other definition is left unchanged.
func (k Conversions) SetWebhook(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	if kind := k.of(crd); kind != nil && kind.Stored == V1beta1 {
		return setWebhook(crd, client, k.Path)
	}
	return nil
}

// ServeV1beta1 does as SetWebhook, and for the kinds whose CRD has v1alpha1
// alone it adds v1beta1 beside it. There is no way to have the one without the
// other: a version without conversion loses fields. If both versions have the same
// fields, the API server converts by itself, and depends on no webhook. The
// version in which objects are stored stays. An error leaves the definition as it was.
func (k Conversions) ServeV1beta1(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	kind := k.of(crd)
	if kind == nil {
		return nil
	}
	changed := crd.DeepCopy()
	if kind.Stored == V1alpha1 {
		if err := kind.addV1beta1(changed); err != nil {
			return fmt.Errorf("v1beta1 of %s: %w", crd.GetName(), err)
		}
	}
	err := error(nil)
	if kind.sameFields() {
		err = unstructured.SetNestedMap(changed.Object, map[string]any{"strategy": "None"}, "spec", "conversion")
	} else {
		err = setWebhook(changed, client, k.Path)
	}
	if err != nil {
		return err
	}
	crd.Object = changed.Object
	return nil
}

// StoreV1beta1 has objects of a definition that has both versions stored as v1beta1 from their next
// write on. Definitions of other kinds, and those without v1beta1, are left unchanged.
func (k Conversions) StoreV1beta1(crd *unstructured.Unstructured) error {
	if k.of(crd) == nil {
		return nil
	}
	all, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return fmt.Errorf("storing %s as v1beta1: %w", crd.GetName(), err)
	}
	if versionAt(all, V1beta1) < 0 {
		return nil
	}
	for _, item := range all {
		if version, ok := item.(map[string]any); ok {
			version["storage"] = version["name"] == string(V1beta1)
		}
	}
	return unstructured.SetNestedSlice(crd.Object, all, "spec", "versions")
}

// of returns the kind of a definition, nil if it is none of the kinds.
func (k Conversions) of(crd *unstructured.Unstructured) *Conversion {
	for _, kind := range k.All {
		if crd.GetName() == kind.Resource+"."+kind.Group {
			return kind
		}
	}
	return nil
}

// setWebhook has the API server ask the webhook that a client configuration
// leads to. A service without a path gets the given one, and one without a port
// 443.
func setWebhook(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig, path string) error {
	if client.Service == nil && client.URL == nil {
		return fmt.Errorf("conversion webhook of %s: want a service or a URL, got neither", crd.GetName())
	}
	if client.Service != nil && client.URL != nil {
		return fmt.Errorf("conversion webhook of %s: want a service or a URL, got both", crd.GetName())
	}
	if client.Service != nil {
		service := *client.Service
		service.Path = ptr.To(ptr.Deref(service.Path, path))
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
