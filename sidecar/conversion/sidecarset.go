// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Path is the path at which Handler is served, unless the definition says otherwise.
const Path = "/convert-sidecar"

// versionLabel is the custom version in v1alpha1. In v1beta1, which has a field for that, it is a label of its own.
var versionLabel = admission.Path{"metadata", "labels", v1alpha1.SidecarSetCustomVersionLabel}

// sidecarSet differs as in OpenKruise 1.9. (SCS-V7)
var sidecarSet = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "SidecarSet", Resource: "sidecarsets", Stored: admission.V1alpha1,
	Fields: []admission.ConvertedField{
		{In: admission.V1beta1, Path: versionLabel, Check: admission.Decodes[string]()},
		{
			In: admission.V1beta1, Path: admission.Path{"spec", "customVersion"}, Check: admission.Decodes[string](),
			Twin: versionLabel, Fits: fitsLabel,
			Schema: `{"type":"string","maxLength":63,"pattern":"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",` +
				`"description":"CustomVersion is the name by which pods may ask for the present revision, as the label ` + v1alpha1.SidecarSetCustomVersionLabel + ` of v1alpha1 is. Default: that label."}`,
		},
		{
			In: admission.V1alpha1, Path: admission.Path{"spec", "namespace"}, Check: admission.Decodes[string](),
			Twin: admission.Path{"spec", "namespaceSelector"}, CheckTwin: admission.Decodes[metav1.LabelSelector](),
			Near: onlyNamespace, Void: "",
		},
	},
	NoRules: []string{"self.spec.__namespace__"},
}

// onlyNamespace returns the selector of one namespace. An empty name means all
// namespaces, as does no selector.
func onlyNamespace(name json.RawMessage) any {
	if text(name) == "" {
		return nil
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: text(name)}}
}

// fitsLabel tells whether a value can be that of a label. OpenKruise stores others too.
func fitsLabel(value json.RawMessage) bool {
	var text *string
	return json.Unmarshal(value, &text) == nil && text != nil && len(validation.IsValidLabelValue(*text)) == 0
}

// CustomVersion is the custom version of a SidecarSet: the label of v1alpha1, which is spec.customVersion of v1beta1. Without one, it
// is the label that the SidecarSet has in v1beta1, which an annotation keeps. It is empty if there is none. (SCS-V7)
func CustomVersion(set *v1alpha1.SidecarSet) string {
	if version := set.Labels[v1alpha1.SidecarSetCustomVersionLabel]; version != "" {
		return version
	}
	return text(sidecarSet.Kept(set.Annotations, admission.V1beta1, versionLabel))
}

func text(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

var kinds = admission.Conversions{Path: Path, All: []*admission.Conversion{sidecarSet}}

// Handler answers the API server's ConversionReviews (apiextensions.k8s.io/v1)
// for SidecarSets, as that of workloads/conversion does for workloads.
func Handler() http.Handler { return kinds.Handler() }

// ServeV1beta1 adds v1beta1 to the definition of SidecarSet (of sidecar.CRDs): served, and
// converted to v1alpha1, in which objects come stored. The webhook that the client
// configuration leads to converts; it serves Handler. Its schema is made of that of v1alpha1. All
// other definitions are left as they are.
//
// API servers tell clients to prefer v1beta1 from then on. Requests in it fail
// while no program serves Handler; those in v1alpha1 need no conversion. To take
// v1beta1 away again, apply the definition as it comes.
//
// The configuration leads to a service in the cluster or to a URL; exactly one
// of them must be given. A service without a path gets Path, and one without a
// port 443; a URL is used unchanged. An error says what is wrong with the
// configuration or the definition, which is then unchanged.
func ServeV1beta1(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	return kinds.ServeV1beta1(crd, client)
}

// StoreV1beta1 does for SidecarSets as StoreV1beta1 of workloads/conversion does for workloads.
func StoreV1beta1(crd *unstructured.Unstructured) error { return kinds.StoreV1beta1(crd) }

// SidecarSet converts a SidecarSet, a JSON document, to the version
// apps.kruise.io/v1alpha1 or apps.kruise.io/v1beta1. What goes to the other
// version and comes back unchanged is what it was.
//
// An error names the part of the document that is not as it should be. The document is no JSON
// object, no SidecarSet or of an unknown version. An annotation that does not hold what this
// function puts there stays, and gives nothing: a SidecarSet that is stored can be read.
func SidecarSet(object []byte, apiVersion string) ([]byte, error) {
	return sidecarSet.Convert(object, apiVersion)
}
