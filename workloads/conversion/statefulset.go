// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/internal/admission"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// KeptFieldsPrefix is that of the annotations of a v1alpha1 object that has fields which only v1beta1 knows. Each holds one
// part of such a field as JSON, in the place that it has in v1beta1. That is an object, empty, or a value within one. The
// rest of the key names the part:
//
//	v1beta1-fields.podwright.github.io/spec.reserveOrdinals: {"spec":{"reserveOrdinals":[1]}}
//	v1beta1-fields.podwright.github.io/status.updatedReadyReplicas: {"status":{"updatedReadyReplicas":3}}
//
// They exist in that version only, if an object has such fields, and are not
// meant to be edited. On a v1beta1 object they have no meaning and are dropped when
// the object is converted.
const KeptFieldsPrefix = "v1beta1-fields.podwright.github.io/"

// KeptFieldsAnnotation held all of them in former releases. It is read still, for what no annotation of its own says.
const KeptFieldsAnnotation = "podwright.github.io/v1beta1-fields"

// statefulSet is the one kind that is stored as v1beta1.
var statefulSet = &admission.Conversion{
	Group: v1beta1.GroupName, Kind: "StatefulSet", Resource: "statefulsets", Stored: admission.V1beta1,
	Fields: []admission.ConvertedField{
		laterField[lifecyclev1alpha1.Lifecycle]("spec", "lifecycle"),
		laterField[appsv1.StatefulSetOrdinals]("spec", "ordinals"),
		laterField[v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy]("spec", "persistentVolumeClaimRetentionPolicy"),
		laterField[v1beta1.ReservedOrdinals]("spec", "reserveOrdinals"),
		laterField[v1beta1.StatefulSetScaleStrategy]("spec", "scaleStrategy"),
		laterField[v1beta1.StatefulSetVolumeClaimUpdateStrategy]("spec", "volumeClaimUpdateStrategy"),
		laterField[int32]("status", "updatedReadyReplicas"),
		laterField[int32]("status", "updatedAvailableReplicas"),
		laterField[[]v1beta1.StatefulSetVolumeClaimStatus]("status", "volumeClaims"),
	},
}

// laterField is a field of a Go type that v1beta1 alone has.
func laterField[T any](path ...string) admission.ConvertedField {
	return admission.ConvertedField{In: admission.V1beta1, Path: path, Check: admission.Decodes[T]()}
}

// StatefulSet converts a StatefulSet, a JSON document, to the version
// apps.kruise.io/v1alpha1 or apps.kruise.io/v1beta1.
//
// It moves the fields that only one version has and leaves the rest of the
// document as it stands. So fields too new for this code pass unharmed.
// What goes to v1alpha1 and comes back unchanged is what it was; so is what goes
// to v1beta1 and comes back.
//
// An error names the part of the document that is not as it should be. It is no
// JSON object, no StatefulSet, of an unknown version, or an annotation that keeps fields
// does not hold what this function puts there.
func StatefulSet(object []byte, apiVersion string) ([]byte, error) {
	return statefulSet.Convert(object, apiVersion)
}
