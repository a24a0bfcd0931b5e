// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// IsAbout tells whether the request is about an object of this kind, in any
// version, and not about a subresource of it.
func IsAbout(request *admissionv1.AdmissionRequest, kind schema.GroupKind) bool {
	return request.Kind.Group == kind.Group && request.Kind.Kind == kind.Kind && request.SubResource == ""
}

// Objects decodes the object of a CREATE or UPDATE, and for an UPDATE the
// stored one too; for a CREATE old is nil. The error is a BadRequest (400).
func Objects[T any](request *admissionv1.AdmissionRequest) (object, old *T, err error) {
	if object, err = decode[T](request, "object", request.Object.Raw); err != nil {
		return nil, nil, err
	}
	if request.Operation == admissionv1.Update {
		old, err = decode[T](request, "oldObject", request.OldObject.Raw)
	}
	return object, old, err
}

// OldObject decodes the stored object of a DELETE; nil if the request has none. The error is
// a BadRequest (400).
func OldObject[T any](request *admissionv1.AdmissionRequest) (*T, error) {
	if len(request.OldObject.Raw) == 0 {
		return nil, nil
	}
	return decode[T](request, "oldObject", request.OldObject.Raw)
}

// Deleted answers a DELETE. It refuses it with the code 403, the words of the
// error that validate returns for the stored object, and its name in the details. A request without one
// is allowed.
func Deleted[T any](request *admissionv1.AdmissionRequest, validate func(*T) error) *admissionv1.AdmissionResponse {
	object, err := OldObject[T](request)
	if object == nil && err == nil {
		return Allowed()
	}
	if err != nil {
		return Errored(err)
	}
	if err := validate(object); err != nil {
		return Errored(&apierrors.StatusError{ErrStatus: metav1.Status{
			Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: err.Error(),
			Details: &metav1.StatusDetails{Name: request.Name, Group: request.Resource.Group, Kind: request.Resource.Resource}}})
	}
	return Allowed()
}

// decode takes keys by their exact case, as the API server does.
func decode[T any](request *admissionv1.AdmissionRequest, field string, raw []byte) (*T, error) {
	object := new(T)
	if err := json.Unmarshal(TameQuantities(raw), object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s: want a %s as JSON: %v", field, request.Kind.Kind, err))
	}
	return object, nil
}
