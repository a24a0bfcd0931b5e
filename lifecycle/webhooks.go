// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

const (
	create = admissionregistrationv1.Create
	update = admissionregistrationv1.Update
)

// Webhooks returns the admission webhooks of the lifecycle kinds and of pods: what a
// MutatingWebhookConfiguration and a ValidatingWebhookConfiguration hold.
// Every call returns new values, which the caller may change.
//
// Who serves them says in the ClientConfig of each how they are reached. That is the name
// and namespace of the service (whose path is set), or a URL that ends in the
// path, and the certificate authority. The paths are those of
// podwebhook.Webhook, recreate.Webhook and podprobemarker.Webhook.
//
// An object that no webhook judges is refused: the failure policy is Fail. The
// requests have no side effects, and may take 10 seconds.
//
// The webhook of pods is asked about every pod outside of namespaces that have the
// label control-plane. MatchConditions made of launchpriority.MatchExpression and
// podreadiness.MatchExpression spare the pods that it would leave as they are.
func Webhooks() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook) {
	requests := manifests.Resource(v1alpha1.GroupName, "containerrecreaterequests", v1alpha1.SchemeGroupVersion.Version)
	markers := manifests.Resource(v1alpha1.GroupName, "podprobemarkers", v1alpha1.SchemeGroupVersion.Version)
	pods := manifests.Mutating("pod", "/mutate-pod", manifests.Resource("", "pods", "v1"), create)
	pods.NamespaceSelector.MatchExpressions = []metav1.LabelSelectorRequirement{
		{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist},
	}
	return []admissionregistrationv1.MutatingWebhook{
		pods,
		manifests.Mutating("containerrecreaterequest", "/mutate-apps-kruise-io-v1alpha1-containerrecreaterequest", requests, create, update),
	}, []admissionregistrationv1.ValidatingWebhook{manifests.Validating("podprobemarker", "/validate-apps-kruise-io-podprobemarker", markers, create, update)}
}
