// SPDX-License-Identifier: Apache-2.0

package distribution

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/manifests"
)

const (
	create = admissionregistrationv1.Create
	update = admissionregistrationv1.Update
)

// Webhooks returns the admission webhooks of the distribution kinds: what a
// MutatingWebhookConfiguration and a ValidatingWebhookConfiguration hold.
// Every call returns new values, which the caller may change.
//
// The program that serves them says in the ClientConfig of each how they are reached. It gives the
// name and namespace of the service (whose path is set), or a URL that ends in the path, and the
// certificate authority. The paths are those of imagepulljob.Webhook, imagelistpulljob.Webhook, nodeimage.Webhook,
// resource.Webhook, workloadspread.Webhook and persistentpodstate.Webhook.
//
// An object that no webhook judges is refused: the failure policy is Fail. The
// requests have no side effects, and may take 10 seconds.
func Webhooks() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook) {
	const list = "-apps-kruise-io-v1alpha1-imagelistpulljob"
	const job, node = "-apps-kruise-io-v1alpha1-imagepulljob", "-apps-kruise-io-v1alpha1-nodeimage"
	jobs := manifests.Resource(v1alpha1.GroupName, "imagepulljobs", v1alpha1.SchemeGroupVersion.Version)
	lists := manifests.Resource(v1alpha1.GroupName, "imagelistpulljobs", v1alpha1.SchemeGroupVersion.Version)
	distributions := manifests.Resource(v1alpha1.GroupName, "resourcedistributions", v1alpha1.SchemeGroupVersion.Version)
	spreads := manifests.Resource(v1alpha1.GroupName, "workloadspreads", v1alpha1.SchemeGroupVersion.Version)
	states := manifests.Resource(v1alpha1.GroupName, "persistentpodstates", v1alpha1.SchemeGroupVersion.Version)
	nodes := manifests.Resource(v1alpha1.GroupName, "nodeimages", v1alpha1.SchemeGroupVersion.Version)
	return []admissionregistrationv1.MutatingWebhook{
			manifests.Mutating("imagepulljob", "/mutate"+job, jobs, create, update),
			manifests.Mutating("imagelistpulljob", "/mutate"+list, lists, create, update),
			manifests.Mutating("nodeimage", "/mutate"+node, nodes, create, update),
		}, []admissionregistrationv1.ValidatingWebhook{
			manifests.Validating("imagepulljob", "/validate"+job, jobs, create, update),
			manifests.Validating("imagelistpulljob", "/validate"+list, lists, create, update),
			manifests.Validating("nodeimage", "/validate"+node, nodes, create, update),
			manifests.Validating("resourcedistribution", "/validate-apps-kruise-io-v1alpha1-resourcedistribution", distributions, create, update),
			manifests.Validating("workloadspread", "/validate-apps-kruise-io-v1alpha1-workloadspread", spreads, create, update),
			manifests.Validating("persistentpodstate", "/validate-apps-kruise-io-persistentpodstate", states, create, update),
		}
}
