// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The names of the two configurations and of the CustomResourceDefinition whose objects are always converted between versions.
const (
	MutatingName       = "kruise-mutating-webhook-configuration"
	ValidatingName     = "kruise-validating-webhook-configuration"
	ConvertedName      = "statefulsets.apps.kruise.io"
	TemplateAnnotation = "template"
	managedByLabel     = "app.kubernetes.io/managed-by"
	managedBy          = "podwright-manager"
)

// Target says what the webhook server serves and how the API server reaches it.
type Target struct {
	// URL is that of the server, like "https://host:9876". Empty: by the Service.
	URL string
	// Namespace and Service name the Service, which leads port 443 to the server.
	Namespace, Service string
	// CABundle is the PEM certificate of the authority that signed the server's certificate.
	CABundle []byte
	// Serves tells whether the server answers on a path. Entries of other paths are dropped from the lists.
	Serves func(path string) bool
	// Conditions are, by path, those that keep objects away from a webhook that leaves them unchanged. So the objects
	// are created while no manager runs. They are given to a list that came with OpenKruise's manifests, too. API
	// servers before 1.28 know no conditions, and send all objects.
	Conditions map[string]string
}

// rebuild makes the list of a configuration what it should be. Mutating and validating webhooks have the same fields, but
// for one, so the list is built of the former.
func rebuild[W any](meta *metav1.ObjectMeta, list *[]W, own []W, target Target) error {
	text, err := template(meta, *list, own)
	if err != nil {
		return err
	}
	var all, served []admissionv1.MutatingWebhook
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("annotation %q: want a list of webhooks in JSON: %w; correct it, or delete it to start from the standing list", TemplateAnnotation, err)
	}
	for _, webhook := range all {
		path := pathOf(webhook.ClientConfig)
		if !target.Serves(path) {
			continue
		}
		webhook.ClientConfig = target.clientConfig(webhook.ClientConfig)
		if condition := target.Conditions[path]; condition != "" && webhook.MatchConditions == nil {
			webhook.MatchConditions = []admissionv1.MatchCondition{{Name: "would-be-changed", Expression: condition}}
		}
		complete(&webhook)
		served = append(served, webhook)
	}
	if text, err = json.Marshal(served); err != nil {
		return err
	}
	*list = nil
	return json.Unmarshal(text, list)
}

// template returns the list to build from as JSON: the template; if there is none, the own list for a configuration of
// our own, and otherwise the standing list, which becomes the template.
func template[W any](meta *metav1.ObjectMeta, standing, own []W) ([]byte, error) {
	if text, found := meta.Annotations[TemplateAnnotation]; found {
		return []byte(text), nil
	}
	if meta.Labels[managedByLabel] == managedBy {
		return json.Marshal(own)
	}
	text, err := json.Marshal(standing)
	metav1.SetMetaDataAnnotation(meta, TemplateAnnotation, string(text))
	return text, err
}

// complete fills in what the API server would, so that a list which stands compares equal to what it was made of.
func complete(w *admissionv1.MutatingWebhook) {
	setDefault(&w.FailurePolicy, admissionv1.Fail)
	setDefault(&w.MatchPolicy, admissionv1.Equivalent)
	setDefault(&w.NamespaceSelector, metav1.LabelSelector{})
	setDefault(&w.ObjectSelector, metav1.LabelSelector{})
	setDefault(&w.TimeoutSeconds, 10)
	setDefault(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
	for i := range w.Rules {
		setDefault(&w.Rules[i].Scope, admissionv1.AllScopes)
	}
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func onPath(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Path: &path}}
}

// clientConfig says how the API server calls a webhook of the target: on the path of the template, and on its port of
// the Service if it names one.
func (t Target) clientConfig(template admissionv1.WebhookClientConfig) admissionv1.WebhookClientConfig {
	path, port := pathOf(template), ptr.To[int32](443)
	if t.URL != "" {
		return admissionv1.WebhookClientConfig{URL: ptr.To(strings.TrimSuffix(t.URL, "/") + path), CABundle: t.CABundle}
	}
	if template.Service != nil && template.Service.Port != nil {
		port = template.Service.Port
	}
	service := &admissionv1.ServiceReference{Namespace: t.Namespace, Name: t.Service, Path: &path, Port: port}
	return admissionv1.WebhookClientConfig{Service: service, CABundle: t.CABundle}
}

// pathOf returns the path that a webhook is called on; "/" if none is named.
func pathOf(c admissionv1.WebhookClientConfig) string {
	path := ""
	if c.Service != nil {
		path = ptr.Deref(c.Service.Path, "")
	} else if parsed, err := url.Parse(ptr.Deref(c.URL, "")); err == nil {
		path = parsed.Path
	}
	if path == "" {
		return "/"
	}
	return path
}
