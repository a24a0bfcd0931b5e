// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Resource is what a webhook is about: a resource in all the versions in which it
// is served.
func Resource(group, resource string, versions ...string) admissionregistrationv1.Rule {
	return admissionregistrationv1.Rule{
		APIGroups: []string{group}, APIVersions: versions, Resources: []string{resource},
		Scope: new(admissionregistrationv1.AllScopes),
	}
}

// Mutating is a webhook of a kind, whose name in lower case stands in its own, that
// is asked for some operations.
func Mutating(kind, path string, resource admissionregistrationv1.Rule, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name:                    "m" + kind + ".kb.io",
		ClientConfig:            onPath(path),
		Rules:                   []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: resource}},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(10)),
		AdmissionReviewVersions: reviewVersions(),
		ReinvocationPolicy:      new(admissionregistrationv1.NeverReinvocationPolicy),
	}
}

// Validating is Mutating for a validating webhook.
func Validating(kind, path string, resource admissionregistrationv1.Rule, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.ValidatingWebhook {
	return admissionregistrationv1.ValidatingWebhook{
		Name:                    "v" + kind + ".kb.io",
		ClientConfig:            onPath(path),
		Rules:                   []admissionregistrationv1.RuleWithOperations{{Operations: operations, Rule: resource}},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		MatchPolicy:             new(admissionregistrationv1.Equivalent),
		NamespaceSelector:       &metav1.LabelSelector{},
		ObjectSelector:          &metav1.LabelSelector{},
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          new(int32(10)),
		AdmissionReviewVersions: reviewVersions(),
	}
}

// reviewVersions are what OpenKruise's webhooks name too; v1 is spoken.
func reviewVersions() []string { return []string{"v1", "v1beta1"} }

func onPath(path string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Path: new(path)}}
}
