// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func failure(code int32, reason metav1.StatusReason, format string, args ...any) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: fmt.Sprintf(format, args...)}}
}

func errUnknown(path string) error {
	return failure(http.StatusNotFound, metav1.StatusReasonNotFound, "fakecluster does not serve %s: register the resource with New", path)
}

func errMethod(r *Request, method string) error {
	return apierrors.NewMethodNotSupported(r.storage.groupResource(), method)
}

func badRequest(err error) error { return apierrors.NewBadRequest(err.Error()) }

func notFound(r *storage, name string) error { return apierrors.NewNotFound(r.groupResource(), name) }

func conflict(r *storage, req *Request, format string, args ...any) error {
	return apierrors.NewConflict(r.groupResource(), req.Name, fmt.Errorf(format, args...))
}

func invalid(r *storage, name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(r.GroupVersionKind.GroupKind(), name, errs)
}

func expired(version string) error {
	return apierrors.NewResourceExpired("resourceVersion " + version + " is older than the history of the server")
}

func success() *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess, Code: http.StatusOK,
	}
}
