// Package registration tells the API server which webhooks to call: it keeps the
// lists of the MutatingWebhookConfiguration and the
// ValidatingWebhookConfiguration in step with what the manager serves.
//
// A configuration that was installed with OpenKruise's manifests carries the
// whole list; the annotation "template" keeps it as it was, and what stands in
// the configuration is always rebuilt from there. A configuration that this
// manager has created is rebuilt from the manager's own table. The
// CustomResourceDefinition of a kind that the manager converts between versions
// leads to it too; nothing else of a definition is touched.
package registration

import (
	"encoding/json"
	"fmt"
	"maps"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// The names of the two configurations, and of what they say of themselves.
const (
	MutatingName       = "kruise-mutating-webhook-configuration"
	ValidatingName     = "kruise-validating-webhook-configuration"
	TemplateAnnotation = "template"
	managedByLabel     = "app.kubernetes.io/managed-by"
	managedBy          = "podwright-manager"
)

// Target says what the webhook server serves and how the API server reaches it.
type Target struct {
	// URL is where the server is reached, like "https://host:9876". Empty: by
	// the Service.
	URL string
	// Namespace and Service name the Service, which leads port 443 to the server.
	Namespace, Service string
	// CABundle is the PEM certificate of the authority that signed the
	// server's certificate.
	CABundle []byte
	// AllPods says that the pod webhook gives every pod a readiness gate, and not
	// only those of our workloads.
	AllPods bool
	// Serves tells whether the server answers on a path. Entries of other
	// paths are dropped from the lists.
	Serves func(path string) bool
}

// Mutating returns what should stand in place of current, which may be nil.
// It returns current itself where nothing has to change, and never modifies it.
func Mutating(current *admissionv1.MutatingWebhookConfiguration, target Target) (*admissionv1.MutatingWebhookConfiguration, error) {
	if current == nil {
		current = &admissionv1.MutatingWebhookConfiguration{ObjectMeta: ownMeta(MutatingName)}
	}
	list, annotations, err := rebuild(current.ObjectMeta, current.Webhooks, builtinMutating(), target,
		func(w *admissionv1.MutatingWebhook) (*admissionv1.WebhookClientConfig, []admissionv1.RuleWithOperations) {
			complete(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector, &w.TimeoutSeconds)
			setDefault(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
			if pathOf(w.ClientConfig) == podwebhook.MutatePath && w.MatchConditions == nil {
				w.MatchConditions = podConditions(target)
			}
			return &w.ClientConfig, w.Rules
		})
	if err != nil {
		return nil, fmt.Errorf("MutatingWebhookConfiguration %s: %w", MutatingName, err)
	}
	if maps.Equal(annotations, current.Annotations) && apiequality.Semantic.DeepEqual(list, current.Webhooks) {
		return current, nil
	}
	wanted := current.DeepCopy()
	wanted.Annotations, wanted.Webhooks = annotations, list
	return wanted, nil
}

// Validating is Mutating for the other configuration.
func Validating(current *admissionv1.ValidatingWebhookConfiguration, target Target) (*admissionv1.ValidatingWebhookConfiguration, error) {
	if current == nil {
		current = &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: ownMeta(ValidatingName)}
	}
	list, annotations, err := rebuild(current.ObjectMeta, current.Webhooks, builtinValidating(), target,
		func(w *admissionv1.ValidatingWebhook) (*admissionv1.WebhookClientConfig, []admissionv1.RuleWithOperations) {
			complete(&w.FailurePolicy, &w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector, &w.TimeoutSeconds)
			return &w.ClientConfig, w.Rules
		})
	if err != nil {
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s: %w", ValidatingName, err)
	}
	if maps.Equal(annotations, current.Annotations) && apiequality.Semantic.DeepEqual(list, current.Webhooks) {
		return current, nil
	}
	wanted := current.DeepCopy()
	wanted.Annotations, wanted.Webhooks = annotations, list
	return wanted, nil
}

// rebuild returns the list that should stand, and the annotations. open fills in
// the defaults of a webhook and gives access to what both kinds share.
func rebuild[W any](
	current metav1.ObjectMeta, standing, builtin []W, target Target,
	open func(*W) (*admissionv1.WebhookClientConfig, []admissionv1.RuleWithOperations),
) ([]W, map[string]string, error) {
	source, annotations, err := source(current, standing, builtin)
	if err != nil {
		return nil, nil, err
	}
	var list []W
	for i := range source {
		webhook := source[i]
		clientConfig, rules := open(&webhook)
		if !target.Serves(pathOf(*clientConfig)) {
			continue
		}
		*clientConfig = target.clientConfig(*clientConfig)
		for i := range rules {
			setDefault(&rules[i].Scope, admissionv1.AllScopes)
		}
		list = append(list, webhook)
	}
	return list, annotations, nil
}

// source returns the list to build from: the template; where there is none, the
// built-in table for a configuration of our own, and otherwise the standing
// list, which becomes the template.
func source[W any](current metav1.ObjectMeta, standing, builtin []W) ([]W, map[string]string, error) {
	if text, found := current.Annotations[TemplateAnnotation]; found {
		var template []W
		if err := json.Unmarshal([]byte(text), &template); err != nil {
			return nil, nil, fmt.Errorf("annotation %q: want a list of webhooks in JSON: %w; correct it, or delete it to start from the standing list",
				TemplateAnnotation, err)
		}
		return template, current.Annotations, nil
	}
	if current.Labels[managedByLabel] == managedBy {
		return builtin, current.Annotations, nil
	}
	text, err := json.Marshal(standing)
	if err != nil {
		return nil, nil, err
	}
	// The standing list must not change with what is made of it.
	var template []W
	if err := json.Unmarshal(text, &template); err != nil {
		return nil, nil, err
	}
	annotations := maps.Clone(current.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[TemplateAnnotation] = string(text)
	return template, annotations, nil
}

func ownMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{managedByLabel: managedBy}}
}

// complete fills in what the API server would, so that a list which stands
// compares equal to the template that it was made of.
func complete(failure **admissionv1.FailurePolicyType, match **admissionv1.MatchPolicyType,
	namespaces, objects **metav1.LabelSelector, timeoutSeconds **int32,
) {
	setDefault(failure, admissionv1.Fail)
	setDefault(match, admissionv1.Equivalent)
	setDefault(namespaces, metav1.LabelSelector{})
	setDefault(objects, metav1.LabelSelector{})
	setDefault(timeoutSeconds, 10)
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
