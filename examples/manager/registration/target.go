package registration

import (
	"net/url"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

// clientConfig says how the API server calls a webhook of the target: on the
// path of the template, and on its port of the Service where it names one.
func (t Target) clientConfig(template admissionv1.WebhookClientConfig) admissionv1.WebhookClientConfig {
	path, port := pathOf(template), ptr.To[int32](443)
	if template.Service != nil && template.Service.Port != nil {
		port = template.Service.Port
	}
	if t.URL != "" {
		return admissionv1.WebhookClientConfig{
			URL:      ptr.To(strings.TrimSuffix(t.URL, "/") + path),
			CABundle: t.CABundle,
		}
	}
	return admissionv1.WebhookClientConfig{
		Service: &admissionv1.ServiceReference{
			Namespace: t.Namespace, Name: t.Service, Path: ptr.To(path), Port: port,
		},
		CABundle: t.CABundle,
	}
}

// pathOf returns the path that a webhook is called on; "/" where none is named.
func pathOf(c admissionv1.WebhookClientConfig) string {
	path := ""
	switch {
	case c.Service != nil:
		path = ptr.Deref(c.Service.Path, "")
	case c.URL != nil:
		if parsed, err := url.Parse(*c.URL); err == nil {
			path = parsed.Path
		}
	}
	if path == "" {
		return "/"
	}
	return path
}
