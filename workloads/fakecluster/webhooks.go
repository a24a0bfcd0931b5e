// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// Admit has webhooks decide about writes from now on, as an API server with these configurations does. It asks mutating ones
// first, each in order, then those that validate. Handlers answer by the path that a webhook's client configuration names;
// Handlers of the library's webhooks are such. A webhook whose path is not among them is not called, so the lists of
// workloads.Webhooks can be given whole. They are called in the writer's goroutine, and may use clients of the cluster.
//
// Rules, selectors of namespaces and objects, failure policies, dry runs and subresources count. Match conditions
// are not evaluated, so a webhook is perhaps called more often. A second call of mutating webhooks (reinvocation) is not made.
func (c *Cluster) Admit(handlers map[string]http.Handler, mutating []admissionregistrationv1.MutatingWebhook, validating []admissionregistrationv1.ValidatingWebhook) {
	a := &admitter{cluster: c, handlers: handlers}
	for i := range mutating {
		w := &mutating[i]
		a.add(&a.mutating, webhook{w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.NamespaceSelector, w.ObjectSelector})
	}
	for i := range validating {
		w := &validating[i]
		a.add(&a.validating, webhook{w.Name, w.ClientConfig, w.Rules, w.FailurePolicy, w.NamespaceSelector, w.ObjectSelector})
	}
	c.server.AdmitBy(a.admit)
}

// webhook is what both kinds of webhooks have.
type webhook struct {
	name                              string
	client                            admissionregistrationv1.WebhookClientConfig
	rules                             []admissionregistrationv1.RuleWithOperations
	failurePolicy                     *admissionregistrationv1.FailurePolicyType
	namespaceSelector, objectSelector *metav1.LabelSelector
}

// path returns the path by which the webhook is called.
func (w *webhook) path() string {
	if w.client.URL != nil {
		_, path, _ := strings.Cut(strings.TrimPrefix(*w.client.URL, "https://"), "/")
		return "/" + path
	}
	if w.client.Service == nil || w.client.Service.Path == nil {
		return "/"
	}
	return *w.client.Service.Path
}

// admitter asks webhooks about writes.
type admitter struct {
	cluster              *Cluster
	handlers             map[string]http.Handler
	mutating, validating []webhook
}

func (a *admitter) add(to *[]webhook, w webhook) {
	if a.handlers[w.path()] != nil {
		*to = append(*to, w)
	}
}

func (a *admitter) admit(ctx context.Context, r fakecluster.Request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for i := range a.mutating {
		response, err := a.ask(ctx, &a.mutating[i], r, before, after)
		if err != nil {
			return nil, err
		}
		if response == nil || len(response.Patch) == 0 || after == nil {
			continue
		}
		if after, err = patched(after, response.Patch); err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("patch of webhook %s: %w", a.mutating[i].name, err))
		}
	}
	for i := range a.validating {
		if _, err := a.ask(ctx, &a.validating[i], r, before, after); err != nil {
			return nil, err
		}
	}
	return after, nil
}

// ask calls a webhook about a write that concerns it. It returns the error that the writer gets if the write is refused.
func (a *admitter) ask(ctx context.Context, w *webhook, r fakecluster.Request, before, after *unstructured.Unstructured) (*admissionv1.AdmissionResponse, error) {
	if !w.hasRule(r) {
		return nil, nil
	}
	if selects, err := a.selects(ctx, w, r, before, after); err != nil || !selects {
		return nil, err
	}
	response, err := a.call(ctx, w, r, before, after)
	switch {
	case err != nil && w.failurePolicy != nil && *w.failurePolicy == admissionregistrationv1.Ignore:
		return nil, nil
	case err != nil:
		return nil, apierrors.NewInternalError(fmt.Errorf("failed calling webhook %q: %w", w.name, err))
	case !response.Allowed:
		return nil, refused(w, response)
	}
	return response, nil
}

// operations are those of webhooks by the verb of a request.
var operations = map[string]admissionregistrationv1.OperationType{
	"create": admissionregistrationv1.Create, "update": admissionregistrationv1.Update,
	"patch": admissionregistrationv1.Update, "delete": admissionregistrationv1.Delete,
}

// hasRule tells whether a webhook has a rule for a request.
func (w *webhook) hasRule(r fakecluster.Request) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, value)
	}
	kind, resource := r.Kind(), r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return slices.ContainsFunc(w.rules, func(rule admissionregistrationv1.RuleWithOperations) bool {
		operation := slices.Contains(rule.Operations, operations[r.Verb]) || slices.Contains(rule.Operations, admissionregistrationv1.OperationAll)
		whole := slices.ContainsFunc(rule.Resources, func(name string) bool {
			return name == resource || name == "*/*" || name == "*" && r.Subresource == "" || name == r.Resource+"/*" ||
				r.Subresource != "" && name == "*/"+r.Subresource
		})
		scope := rule.Scope == nil || *rule.Scope == admissionregistrationv1.AllScopes ||
			(*rule.Scope == admissionregistrationv1.NamespacedScope) == (r.Namespace != "")
		return operation && whole && scope && has(rule.APIGroups, kind.Group) && has(rule.APIVersions, kind.Version)
	})
}

// selects tells whether the selectors of a webhook select a write, by its namespace and by the object before or after it.
func (a *admitter) selects(ctx context.Context, w *webhook, r fakecluster.Request, before, after *unstructured.Unstructured) (bool, error) {
	if w.namespaceSelector != nil && r.Namespace != "" {
		selector, err := metav1.LabelSelectorAsSelector(w.namespaceSelector)
		if err != nil {
			return false, err
		}
		found := labels.Set{"kubernetes.io/metadata.name": r.Namespace}
		namespace, err := a.cluster.kube.CoreV1().Namespaces().Get(ctx, r.Namespace, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		if err == nil {
			found = labels.Merge(namespace.Labels, found)
		}
		if !selector.Matches(found) {
			return false, nil
		}
	}
	if w.objectSelector == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(w.objectSelector)
	if err != nil {
		return false, err
	}
	matches := func(object *unstructured.Unstructured) bool {
		return object != nil && selector.Matches(labels.Set(object.GetLabels()))
	}
	return matches(before) || matches(after), nil
}
