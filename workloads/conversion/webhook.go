// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/admission"
)

// Path is the path at which Handler is served, unless the definition says otherwise.
const Path = "/convert"

var kinds = admission.Conversions{Path: Path, All: []*admission.Conversion{statefulSet, daemonSet, broadcastJob, advancedCronJob}}

// Handler answers the API server's ConversionReviews (apiextensions.k8s.io/v1)
// for every kind that SetWebhook and ServeV1beta1 know. An object that cannot be
// converted is answered by a failure that names the object and what is wrong
// with it. The user whose request needs the object reads it.
//
// Conversion needs no client and keeps nothing: every replica can serve it,
// whether it leads or not.
func Handler() http.Handler { return kinds.Handler() }

// SetWebhook changes a CustomResourceDefinition (one of workloads.CRDs) to have
// the API server ask the webhook that the client configuration leads to, which
// serves Handler. A definition that has one version only is left unchanged.
//
// The definitions come without a webhook, because only the caller knows the address of Handler. Also, a definition that names a
// webhook which no process serves is worse than one that names none. With it every v1alpha1 request would fail, while requests in
// v1beta1, the version in which StatefulSets are stored, need no conversion in either case. So call this when Handler is served,
// after the server has its certificate.
//
// The configuration leads to a service in the cluster or to a URL; exactly one
// of them must be given. A service without a path gets Path, and one without a
// port 443; a URL is used unchanged. An error says what is wrong with the
// configuration or the definition, which is then unchanged.
func SetWebhook(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	return kinds.SetWebhook(crd, client)
}

// ServeV1beta1 does as SetWebhook, and adds v1beta1 to the definitions of
// DaemonSet, BroadcastJob and AdvancedCronJob, which come with v1alpha1 alone. v1beta1 is
// served, and converted by the webhook to v1alpha1, in which objects are still
// stored. Its schema is made of that of v1alpha1. All other definitions are left
// as they are. BroadcastJobs have the same fields in both versions: API servers convert
// them by themselves.
//
// API servers tell clients to prefer v1beta1 from then on. Requests in it fail
// while no process serves Handler; those in v1alpha1 need no conversion. To take
// v1beta1 away again, apply the definition as it comes.
func ServeV1beta1(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	return kinds.ServeV1beta1(crd, client)
}

// StoreV1beta1 has the objects of a definition stored as v1beta1, each from its next write on, if ServeV1beta1
// has given it that version. It is for clusters in which they are stored so, as OpenKruise 1.9 does. Their API servers
// refuse a definition without v1beta1, since its status.storedVersions names it. All other
// definitions are left unchanged.
//
// Requests in v1alpha1, those of the controllers among them, then need conversion. An error
// says that the versions of the definition are no list.
func StoreV1beta1(crd *unstructured.Unstructured) error { return kinds.StoreV1beta1(crd) }
