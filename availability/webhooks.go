// SPDX-License-Identifier: Apache-2.0

package availability

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

const (
	create = admissionregistrationv1.Create
	update = admissionregistrationv1.Update
	remove = admissionregistrationv1.Delete
)

// Webhooks returns the admission webhooks of the availability kinds, of what takes pods down, and
// of deletion protection: what a MutatingWebhookConfiguration and a
// ValidatingWebhookConfiguration hold. Every call returns new values, which the caller may
// change.
//
// The program that serves them says in the ClientConfig of each how they are reached. It gives the
// name and namespace of the service (whose path is set), or a URL that ends in the path, and the
// certificate authority. The paths are those of podunavailablebudget.Webhook and deletion.Webhook.
//
// What no webhook judges is refused: the failure policy is Fail. The requests may take 10
// seconds. Those about pods have side effects, except in a dry run.
//
// The webhooks of pods are asked outside of namespaces that have the label control-plane.
// MatchConditions made of podunavailablebudget.MatchExpression spare namespaces without budgets,
// and pods that no budget protects, so that these go while no replica serves.
//
// The webhooks of deletion protection are asked about objects that have the label
// policy.kruise.io/delete-protection. Of CloneSets and StatefulSets of apps.kruise.io the
// webhooks of package workloads judge the deletion.
func Webhooks() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook) {
	return nil, append(ofBudgets(), ofDeletions()...)
}

func ofBudgets() []admissionregistrationv1.ValidatingWebhook {
	const path = "/validate-pod"
	budgets := manifests.Resource(v1alpha1.GroupName, "podunavailablebudgets", v1alpha1.SchemeGroupVersion.Version)
	pods := manifests.Validating("pod", path, manifests.Resource("", "pods", "v1"), update, remove)
	pods.Rules = append(pods.Rules, admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{update}, Rule: manifests.Resource("", "pods/resize", "v1")})
	evictions := manifests.Validating("podeviction", path, manifests.Resource("", "pods/eviction", "v1"), create)
	for _, w := range []*admissionregistrationv1.ValidatingWebhook{&pods, &evictions} {
		w.SideEffects = new(admissionregistrationv1.SideEffectClassNoneOnDryRun)
		w.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
			{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist},
		}
	}
	return []admissionregistrationv1.ValidatingWebhook{
		manifests.Validating("podunavailablebudget", "/validate-policy-kruise-io-podunavailablebudget", budgets, create, update), pods, evictions,
	}
}

func ofDeletions() []admissionregistrationv1.ValidatingWebhook {
	webhooks := []admissionregistrationv1.ValidatingWebhook{
		manifests.Validating("namespace", "/validate-namespace", manifests.Resource("", "namespaces", "v1"), remove),
		manifests.Validating("customresourcedefinition", "/validate-customresourcedefinition",
			manifests.Resource("apiextensions.k8s.io", "customresourcedefinitions", "v1", "v1beta1"), remove),
		manifests.Validating("builtindeployment", "/validate-apps-deployment", manifests.Resource("apps", "deployments", "v1"), remove),
		manifests.Validating("builtinreplicaset", "/validate-apps-replicaset", manifests.Resource("apps", "replicasets", "v1"), remove),
		manifests.Validating("builtinstatefulset", "/validate-apps-statefulset", manifests.Resource("apps", "statefulsets", "v1"), remove),
		manifests.Validating("service", "/validate-service", manifests.Resource("", "services", "v1"), remove),
		manifests.Validating("ingress", "/validate-ingress", manifests.Resource("networking.k8s.io", "ingresses", "v1", "v1beta1"), remove),
	}
	for i := range webhooks {
		webhooks[i].ObjectSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
			{Key: v1alpha1.DeletionProtectionLabel, Operator: metav1.LabelSelectorOpExists},
		}
	}
	return webhooks
}
