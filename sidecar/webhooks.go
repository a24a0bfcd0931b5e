// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const (
	create = admissionregistrationv1.Create
	update = admissionregistrationv1.Update
)

// Webhooks returns the admission webhooks of the sidecar kinds: what a
// MutatingWebhookConfiguration and a ValidatingWebhookConfiguration hold.
// Every call returns new values, which the caller may change. The webhook that injects
// into pods is among those of package lifecycle: it has other work, too.
//
// The program that serves them says in the ClientConfig of each how they are reached. It gives the
// name and namespace of the service (whose path is set), or a URL that ends in the path, and the
// certificate authority. The paths are those of sidecarset.Webhook.
//
// An object that no webhook judges is refused: the failure policy is Fail. The
// requests have no side effects, and may take 10 seconds.
func Webhooks() ([]admissionregistrationv1.MutatingWebhook, []admissionregistrationv1.ValidatingWebhook) {
	const set = "-apps-kruise-io-v1alpha1-sidecarset"
	sets := manifests.Resource(v1alpha1.GroupName, "sidecarsets", v1alpha1.SchemeGroupVersion.Version)
	return []admissionregistrationv1.MutatingWebhook{manifests.Mutating("sidecarset", "/mutate"+set, sets, create, update)},
		[]admissionregistrationv1.ValidatingWebhook{manifests.Validating("sidecarset", "/validate"+set, sets, create, update)}
}
