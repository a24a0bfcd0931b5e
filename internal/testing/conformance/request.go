// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Requests returns what makes requests about the object demo in the namespace shop, of a kind of apps.kruise.io in a version.
func Requests(version, kind, resource string) func(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
	return func(op admissionv1.Operation, object, old string) *admissionv1.AdmissionRequest {
		return &admissionv1.AdmissionRequest{
			UID: "r1", Operation: op, Namespace: "shop", Name: "demo",
			Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: version, Kind: kind},
			Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: version, Resource: resource},
			Object:   runtime.RawExtension{Raw: []byte(object)}, OldObject: runtime.RawExtension{Raw: []byte(old)},
		}
	}
}
