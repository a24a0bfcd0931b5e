package registration

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// workload is a kind with a webhook that sets its defaults and one that
// validates it.
type workload struct {
	// name stands in the names of the webhooks, and at the end of their paths.
	name, path string
	rule       admissionv1.Rule
	// protected says that the validating webhook is asked about deletions too.
	protected bool
}

// workloads are those of a configuration of our own. Webhooks that are not
// served are left out later.
func workloads() []workload {
	return []workload{
		{"cloneset", "-apps-kruise-io-v1alpha1-cloneset", appsRule("clonesets", "v1alpha1"), true},
		{"statefulset", "-apps-kruise-io-statefulset", appsRule("statefulsets", "v1alpha1", "v1beta1"), true},
		{"imagepulljob", "-apps-kruise-io-v1alpha1-imagepulljob", appsRule("imagepulljobs", "v1alpha1"), false},
		{"nodeimage", "-apps-kruise-io-v1alpha1-nodeimage", appsRule("nodeimages", "v1alpha1"), false},
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
	list := []admissionv1.MutatingWebhook{{
		Name:         "mpod.kb.io",
		ClientConfig: onPath(podwebhook.MutatePath),
		Rules:        on(admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}, admissionv1.Create),
		NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist},
		}},
		SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
		AdmissionReviewVersions: reviewVersions(),
	}}
	for _, w := range workloads() {
		list = append(list, admissionv1.MutatingWebhook{
			Name:                    "m" + w.name + ".kb.io",
			ClientConfig:            onPath("/mutate" + w.path),
			Rules:                   on(w.rule, admissionv1.Create, admissionv1.Update),
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: reviewVersions(),
		})
	}
	return list
}

// builtinValidating is builtinMutating for the validating webhooks.
func builtinValidating() []admissionv1.ValidatingWebhook {
	var list []admissionv1.ValidatingWebhook
	for _, w := range workloads() {
		operations := []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
		if w.protected {
			operations = append(operations, admissionv1.Delete)
		}
		list = append(list, admissionv1.ValidatingWebhook{
			Name:                    "v" + w.name + ".kb.io",
			ClientConfig:            onPath("/validate" + w.path),
			Rules:                   on(w.rule, operations...),
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: reviewVersions(),
		})
	}
	return list
}

// podConditions keep pods away from the webhook that it leaves as they are, so
// that these are created while no manager runs. The pods of a list that came with
// OpenKruise's manifests are spared too. API servers before 1.28 know no
// conditions, and send all pods.
func podConditions() []admissionv1.MatchCondition {
	return []admissionv1.MatchCondition{{Name: "asks-for-launch-order", Expression: launchpriority.MatchExpression}}
}

func onPath(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Path: ptr.To(path)}}
}

func on(rule admissionv1.Rule, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{Operations: operations, Rule: rule}}
}
