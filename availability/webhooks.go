// SPDX-License-Identifier: Apache-2.0

package availability

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

const remove = admissionregistrationv1.Delete

// Webhooks returns the admission webhooks of package deletion: what a
// MutatingWebhookConfiguration and a ValidatingWebhookConfiguration hold.
// Every call returns new values, which the caller may change. Of CloneSets and StatefulSets
// of apps.kruise.io the webhooks of package workloads judge the deletion.
//
// Who serves them says in the ClientConfig of each how they are reached: the name
// and namespace of the service (whose path is set), or a URL that ends in the
// path, and the certificate authority. The paths are those of
// deletion.Webhook.
//
// They are asked about the deletion of objects that have the label
// policy.kruise.io/delete-protection. What no webhook judges is refused: the failure policy is
// Fail. The requests have no side effects, and may take 10 seconds.
func Webhooks() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook) {
	validating := []admissionregistrationv1.ValidatingWebhook{
		manifests.Validating("namespace", "/validate-namespace", manifests.Resource("", "namespaces", "v1"), remove),
		manifests.Validating("customresourcedefinition", "/validate-customresourcedefinition",
			manifests.Resource("apiextensions.k8s.io", "customresourcedefinitions", "v1", "v1beta1"), remove),
		manifests.Validating("builtindeployment", "/validate-apps-deployment", manifests.Resource("apps", "deployments", "v1"), remove),
		manifests.Validating("builtinreplicaset", "/validate-apps-replicaset", manifests.Resource("apps", "replicasets", "v1"), remove),
		manifests.Validating("builtinstatefulset", "/validate-apps-statefulset", manifests.Resource("apps", "statefulsets", "v1"), remove),
		manifests.Validating("uniteddeployment", "/validate-apps-kruise-io-v1alpha1-uniteddeployment",
			manifests.Resource("apps.kruise.io", "uniteddeployments", "v1alpha1"), remove),
	}
	for i := range validating {
		validating[i].ObjectSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
			{Key: v1alpha1.DeletionProtectionLabel, Operator: metav1.LabelSelectorOpExists},
		}
	}
	return nil, validating
}
