package registration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

// builtinMutating returns the webhooks that a configuration of our own may hold.
// Those that are not served are left out later. Every call returns a new list.
func builtinMutating() []admissionv1.MutatingWebhook {
	return []admissionv1.MutatingWebhook{{
		Name:                    "mcloneset.kb.io",
		ClientConfig:            onPath("/mutate-apps-kruise-io-v1alpha1-cloneset"),
		Rules:                   onKind("clonesets", admissionv1.Create, admissionv1.Update),
		SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1", "v1beta1"},
	}}
}

// builtinValidating is builtinMutating for the validating webhooks.
func builtinValidating() []admissionv1.ValidatingWebhook {
	return []admissionv1.ValidatingWebhook{{
		Name:                    "vcloneset.kb.io",
		ClientConfig:            onPath("/validate-apps-kruise-io-v1alpha1-cloneset"),
		Rules:                   onKind("clonesets", admissionv1.Create, admissionv1.Update, admissionv1.Delete),
		SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1", "v1beta1"},
	}}
}

func onPath(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Path: ptr.To(path)}}
}

func onKind(resource string, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionv1.Rule{
			APIGroups: []string{"apps.kruise.io"}, APIVersions: []string{"v1alpha1"}, Resources: []string{resource},
		},
	}}
}
