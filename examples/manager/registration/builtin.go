package registration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

// kind is a kind with a webhook that sets its defaults and one that validates
// it, or one that does both.
type kind struct {
	// name stands in the names of the webhooks, and path in their paths.
	name, path string
	rule       admissionv1.Rule
	// mutating says that there is no webhook beside the one that sets defaults.
	mutating bool
}

// kinds are those of a configuration of our own. Webhooks that are not served
// are left out later.
func kinds() []kind {
	return []kind{
		{"cloneset", "-apps-kruise-io-v1alpha1-cloneset", appsRule("clonesets", "v1alpha1"), false},
		{"statefulset", "-apps-kruise-io-statefulset", appsRule("statefulsets", "v1alpha1", "v1beta1"), false},
		{"containerrecreaterequest", "-apps-kruise-io-v1alpha1-containerrecreaterequest", appsRule("containerrecreaterequests", "v1alpha1"), true},
	}
}

func appsRule(resource string, versions ...string) admissionv1.Rule {
	return admissionv1.Rule{APIGroups: []string{"apps.kruise.io"}, APIVersions: versions, Resources: []string{resource}}
}

// reviewVersions are what the webhooks of OpenKruise name too; v1 is spoken.
func reviewVersions() []string { return []string{"v1", "v1beta1"} }

// builtinMutating returns the webhooks that a configuration of our own may hold.
// Every call returns a new list.
func builtinMutating() []admissionv1.MutatingWebhook {
	var list []admissionv1.MutatingWebhook
	for _, k := range kinds() {
		list = append(list, admissionv1.MutatingWebhook{
			Name:                    "m" + k.name + ".kb.io",
			ClientConfig:            onPath("/mutate" + k.path),
			Rules:                   on(k.rule, admissionv1.Create, admissionv1.Update),
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: reviewVersions(),
		})
	}
	return list
}

// builtinValidating is builtinMutating for the validating webhooks.
func builtinValidating() []admissionv1.ValidatingWebhook {
	var list []admissionv1.ValidatingWebhook
	for _, k := range kinds() {
		if k.mutating {
			continue
		}
		list = append(list, admissionv1.ValidatingWebhook{
			Name:                    "v" + k.name + ".kb.io",
			ClientConfig:            onPath("/validate" + k.path),
			Rules:                   on(k.rule, admissionv1.Create, admissionv1.Update, admissionv1.Delete),
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: reviewVersions(),
		})
	}
	return list
}

func onPath(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Path: ptr.To(path)}}
}

func on(rule admissionv1.Rule, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{Operations: operations, Rule: rule}}
}
