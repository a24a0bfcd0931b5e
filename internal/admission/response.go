// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Allowed allows the request unchanged.
func Allowed() *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// Validated allows the request if there are no errors. Otherwise it
// refuses it as the API server refuses an invalid object: with the code 422,
// and every error as a cause with its field.
func Validated(request *admissionv1.AdmissionRequest, errs field.ErrorList) *admissionv1.AdmissionResponse {
	if err := Invalid(request, errs, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid); err != nil {
		return Errored(err)
	}
	return Allowed()
}

// Invalid is the error of a request with which something is wrong, field by field,
// nil if nothing is. It is as the API server's own, but with this code and reason.
func Invalid(request *admissionv1.AdmissionRequest, errs field.ErrorList, code int32, reason metav1.StatusReason) error {
	if len(errs) == 0 {
		return nil
	}
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}, request.Name, errs)
	invalid.ErrStatus.Code, invalid.ErrStatus.Reason = code, reason
	return invalid
}

// Forbidden is the error of a request that is refused with the code 403. The
// reason follows the name of the object and the words "is forbidden: ".
func Forbidden(request *admissionv1.AdmissionRequest, reason string) error {
	resource := schema.GroupResource{Group: request.Resource.Group, Resource: request.Resource.Resource}
	return apierrors.NewForbidden(resource, request.Name, errors.New(reason))
}

// Errored refuses the request because of an error. An error of
// k8s.io/apimachinery/pkg/api/errors (also a wrapped one) keeps its code and
// reason; any other has the code 500.
func Errored(err error) *admissionv1.AdmissionResponse {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return refused(apierrors.NewInternalError(err))
	}
	response := refused(status)
	response.Result.Message = err.Error() // with the words of the wrapping errors
	return response
}

func refused(status apierrors.APIStatus) *admissionv1.AdmissionResponse {
	result := status.Status()
	result.Status = metav1.StatusFailure
	return &admissionv1.AdmissionResponse{Result: &result}
}
