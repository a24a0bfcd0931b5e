package admission

import (
	"errors"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Allowed lets the request pass as it is.
func Allowed() *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

// Validated lets the request pass where there are no errors. Otherwise it
// refuses it as the API server refuses an invalid object: with the code 422,
// and every error as a cause with its field.
func Validated(request *admissionv1.AdmissionRequest, errs field.ErrorList) *admissionv1.AdmissionResponse {
	if len(errs) == 0 {
		return Allowed()
	}
	kind := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
	return refused(apierrors.NewInvalid(kind, request.Name, errs))
}

// Forbidden refuses the request with the code 403. The reason follows the name
// of the object and the words "is forbidden: ".
func Forbidden(request *admissionv1.AdmissionRequest, reason string) *admissionv1.AdmissionResponse {
	resource := schema.GroupResource{Group: request.Resource.Group, Resource: request.Resource.Resource}
	return refused(apierrors.NewForbidden(resource, request.Name, errors.New(reason)))
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
