package conversion

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// reviewKind is what travels in both directions.
var reviewKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "ConversionReview"}

// Review is a ConversionReview: a question, or the answer to it.
type Review struct {
	metav1.TypeMeta `json:",inline"`

	Request  *Request  `json:"request,omitempty"`
	Response *Response `json:"response,omitempty"`
}

// Request asks for objects in another version.
type Request struct {
	// UID stands in the answer again.
	UID types.UID `json:"uid"`
	// DesiredAPIVersion is a group and version, such as apps.kruise.io/v1beta1.
	DesiredAPIVersion string                 `json:"desiredAPIVersion"`
	Objects           []runtime.RawExtension `json:"objects"`
}

// Response holds the converted objects in the order of the request, or says why
// there are none.
type Response struct {
	UID              types.UID              `json:"uid"`
	ConvertedObjects []runtime.RawExtension `json:"convertedObjects"`
	Result           metav1.Status          `json:"result"`
}
