// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The names of the two configurations, and the annotation that keeps the list of one which another program made.
const (
	MutatingName       = "kruise-mutating-webhook-configuration"
	ValidatingName     = "kruise-validating-webhook-configuration"
	TemplateAnnotation = "template"
)

// offeredAnnotation has the names of the own webhooks that were added to the list of another program, or stood there.
const offeredAnnotation = "podwright.github.io/offered-webhooks"

// What a configuration has that a Set has created.
const managedByLabel, managedBy = "app.kubernetes.io/managed-by", "podwright-manager"

// Target says how the API server reaches the handlers of a program.
type Target struct {
	// URL is that of the server, like "https://host:9876". Empty: by the Service.
	URL string
	// Namespace and Service name the Service, which leads port 443 to the server.
	Namespace, Service string
	// CABundle is the PEM certificate of the authority that signed the server's certificate.
	CABundle []byte
	// KeepCABundles has each webhook keep the caBundle that it has, because another program writes them: CABundle is not used. A
	// webhook that is new has that of the others of its configuration, and none if they have none. Default: false.
	KeepCABundles bool
	// Annotations are added to the configurations, for a program that goes by them. Those that are not named stay. Default nil: none.
	Annotations map[string]string
}

// ClientConfig says how the API server calls a path of the target.
func (t Target) ClientConfig(path string) admissionregistrationv1.WebhookClientConfig {
	return t.clientConfig(admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Path: &path}})
}

// clientConfig is on the path of a template, and on its port of the Service if it names one.
func (t Target) clientConfig(template admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.WebhookClientConfig {
	path, port := pathOf(template), new(int32(443))
	if t.URL != "" {
		return admissionregistrationv1.WebhookClientConfig{URL: new(strings.TrimSuffix(t.URL, "/") + path), CABundle: t.CABundle}
	}
	if template.Service != nil && template.Service.Port != nil {
		port = template.Service.Port
	}
	service := &admissionregistrationv1.ServiceReference{Namespace: t.Namespace, Name: t.Service, Path: &path, Port: port}
	return admissionregistrationv1.WebhookClientConfig{Service: service, CABundle: t.CABundle}
}

// pathOf returns the path that a webhook is called on; "/" if none is named.
func pathOf(c admissionregistrationv1.WebhookClientConfig) string {
	path := ""
	if c.Service != nil && c.Service.Path != nil {
		path = *c.Service.Path
	} else if c.Service == nil && c.URL != nil {
		if parsed, err := url.Parse(*c.URL); err == nil {
			path = parsed.Path
		}
	}
	if path == "" {
		return "/"
	}
	return path
}

// Webhooks returns the webhooks that the program serves, by area, without a target and without conditions.
func (s *Set) Webhooks() (mutating []admissionregistrationv1.MutatingWebhook, validating []admissionregistrationv1.ValidatingWebhook) {
	known := map[string]bool{}
	take := func(name string, config admissionregistrationv1.WebhookClientConfig, policy **admissionregistrationv1.FailurePolicyType) bool {
		path := pathOf(config)
		if known[name] || s.handlers[path] == nil {
			return false
		}
		known[name] = true
		if chosen := s.options.FailurePolicies[path]; chosen != "" {
			*policy = &chosen
		}
		return true
	}
	for _, k := range s.kinds {
		if k.Admission == nil || k.Webhooks == nil {
			continue
		}
		ofArea, alsoOfArea := k.Webhooks()
		for _, w := range ofArea {
			if take(w.Name, w.ClientConfig, &w.FailurePolicy) {
				s.exempt(w.Rules, &w.NamespaceSelector)
				mutating = append(mutating, w)
			}
		}
		for _, w := range alsoOfArea {
			if take(w.Name, w.ClientConfig, &w.FailurePolicy) {
				s.exempt(w.Rules, &w.NamespaceSelector)
				validating = append(validating, w)
			}
		}
	}
	return mutating, validating
}

// exempt adds the namespaces that a webhook is not asked about, unless it is one of the library's own kinds.
func (s *Set) exempt(rules []admissionregistrationv1.RuleWithOperations, selector **metav1.LabelSelector) {
	own := slices.ContainsFunc(rules, func(r admissionregistrationv1.RuleWithOperations) bool {
		return slices.ContainsFunc(r.APIGroups, func(group string) bool { return strings.HasSuffix(group, ".kruise.io") })
	})
	if own || len(s.options.ExemptNamespaces) == 0 {
		return
	}
	but := (*selector).DeepCopy()
	if but == nil {
		but = &metav1.LabelSelector{}
	}
	but.MatchExpressions = append(but.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: s.options.ExemptNamespaces,
	})
	*selector = but
}

// Conditions return, by path, a CEL expression that is true of all requests that a webhook has to be asked about now. They wait for the
// caches of the webhooks, which RunWebhooks fills, as long as the context allows. An error says that these are not filled yet.
func (s *Set) Conditions(ctx context.Context) (map[string]string, error) {
	conditions := map[string]string{}
	var errs []error
	for _, k := range s.kinds {
		if k.Admission == nil {
			continue
		}
		for path, condition := range k.Admission.Conditions {
			expression, err := condition(ctx)
			conditions[path], errs = expression, append(errs, err)
		}
	}
	return conditions, errors.Join(errs...)
}

// OnMatchChange has a function called whenever Conditions may have come to return something else: then the webhooks are to be registered
// anew, as RunWebhooks does. The function must not wait for anything.
func (s *Set) OnMatchChange(changed func()) error {
	var errs []error
	for _, k := range s.kinds {
		if k.Admission != nil && k.Admission.OnMatchChange != nil {
			errs = append(errs, k.Admission.OnMatchChange(changed))
		}
	}
	return errors.Join(errs...)
}

// Configurations returns the two webhook configurations whole, for a target: what RunWebhooks creates. They are for a
// program that has another writer register them. They have to be written again when OnMatchChange says so, and when the
// authority is another. See Conditions, which it waits for, for the error.
func (s *Set) Configurations(ctx context.Context, target Target) (*admissionregistrationv1.MutatingWebhookConfiguration, *admissionregistrationv1.ValidatingWebhookConfiguration, error) {
	conditions, err := s.Conditions(ctx)
	if err != nil {
		return nil, nil, err
	}
	meta, version := metav1.ObjectMeta{Labels: map[string]string{managedByLabel: managedBy}}, admissionregistrationv1.SchemeGroupVersion.String()
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "MutatingWebhookConfiguration"}, ObjectMeta: *meta.DeepCopy()}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: "ValidatingWebhookConfiguration"}, ObjectMeta: *meta.DeepCopy()}
	mutating.Name, validating.Name = MutatingName, ValidatingName
	ofMutating, ofValidating := s.Webhooks()
	b := builder{target, s.serves, conditions}
	return mutating, validating, errors.Join(rebuild(&mutating.ObjectMeta, &mutating.Webhooks, ofMutating, b), rebuild(&validating.ObjectMeta, &validating.Webhooks, ofValidating, b))
}

func (s *Set) serves(path string) bool { return s.handlers[path] != nil }
