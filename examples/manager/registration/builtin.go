package registration

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

// kind is a kind with a webhook that sets its defaults and one that validates
// it, or one that does both.
type kind struct {
	// name stands in the names of the webhooks, and path in their paths.
	name, path string
	rule       admissionv1.Rule
	// protected says that the validating webhook is asked about deletions too.
	protected bool
	// mutating says that there is no webhook beside the one that sets defaults.
	mutating bool
}

// kinds are those of a configuration of our own. Webhooks that are not served
// are left out later.
func kinds() []kind {
	return []kind{
		{name: "cloneset", path: "-apps-kruise-io-v1alpha1-cloneset", rule: appsRule("clonesets", "v1alpha1"), protected: true},
		{name: "statefulset", path: "-apps-kruise-io-statefulset", rule: appsRule("statefulsets", "v1alpha1", "v1beta1"), protected: true},
		{name: "imagepulljob", path: "-apps-kruise-io-v1alpha1-imagepulljob", rule: appsRule("imagepulljobs", "v1alpha1")},
		{name: "nodeimage", path: "-apps-kruise-io-v1alpha1-nodeimage", rule: appsRule("nodeimages", "v1alpha1")},
		{name: "containerrecreaterequest", path: "-apps-kruise-io-v1alpha1-containerrecreaterequest", rule: appsRule("containerrecreaterequests", "v1alpha1"), mutating: true},
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
		operations := []admissionv1.OperationType{admissionv1.Create, admissionv1.Update}
		if k.protected {
			operations = append(operations, admissionv1.Delete)
		}
		list = append(list, admissionv1.ValidatingWebhook{
			Name:                    "v" + k.name + ".kb.io",
			ClientConfig:            onPath("/validate" + k.path),
			Rules:                   on(k.rule, operations...),
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
//
// Where all pods are changed, those in the manager's own namespace are asked for
// only if they would be changed anyway: the manager must be able to start.
func podConditions(target Target) []admissionv1.MatchCondition {
	expression := "(" + launchpriority.MatchExpression + ") || (" + podreadiness.MatchExpression + ")"
	if target.AllPods {
		expression += fmt.Sprintf(" || request.namespace != '%s' && (%s)", target.Namespace, podreadiness.MatchExpressionAll)
	}
	return []admissionv1.MatchCondition{{Name: "would-be-changed", Expression: expression}}
}

func onPath(path string) admissionv1.WebhookClientConfig {
	return admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Path: ptr.To(path)}}
}

func on(rule admissionv1.Rule, operations ...admissionv1.OperationType) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{Operations: operations, Rule: rule}}
}
