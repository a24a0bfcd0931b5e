// SPDX-License-Identifier: Apache-2.0

package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// conversionReviewKind is what travels in both directions.
var conversionReviewKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "ConversionReview"}

// ConversionReview is a ConversionReview: a question, or the answer to it.
type ConversionReview struct {
	metav1.TypeMeta `json:",inline"`

	Request  *ConversionRequest  `json:"request,omitempty"`
	Response *ConversionResponse `json:"response,omitempty"`
}

// ConversionRequest asks for objects in another version.
type ConversionRequest struct {
	// UID stands in the answer again.
	UID types.UID `json:"uid"`
	// DesiredAPIVersion is a group and version, such as apps.kruise.io/v1beta1.
	DesiredAPIVersion string                 `json:"desiredAPIVersion"`
	Objects           []runtime.RawExtension `json:"objects"`
}

// ConversionResponse holds the converted objects in the order of the request, or says why
// there are none.
type ConversionResponse struct {
	UID              types.UID              `json:"uid"`
	ConvertedObjects []runtime.RawExtension `json:"convertedObjects"`
	Result           metav1.Status          `json:"result"`
}
