// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// fieldErrors turns the API server's verdict on a template into errors of
// the workload. It returns false for an error that is no verdict.
func fieldErrors(err error, claims map[int]int) (field.ErrorList, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity {
		return nil, false
	}
	s := status.Status()
	if s.Details == nil || len(s.Details.Causes) == 0 {
		return field.ErrorList{fieldError(metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "template", Message: s.Message}, claims)}, true
	}
	var errs field.ErrorList
	for _, cause := range s.Details.Causes {
		errs = append(errs, fieldError(cause, claims))
	}
	return errs, true
}

// fieldError is a cause with the path that it has in a workload. The
// message of a cause starts with its type and value, so they are not said again.
func fieldError(cause metav1.StatusCause, claims map[int]int) *field.Error {
	kind := field.ErrorType(cause.Type)
	detail, ok := strings.CutPrefix(cause.Message, kind.String())
	if !ok {
		kind = field.ErrorTypeInvalid // A cause that is not made of a field error.
	}
	return &field.Error{
		Type: kind, Field: specField(cause.Field, claims),
		BadValue: field.OmitValueType{}, Detail: strings.TrimPrefix(detail, ": "),
	}
}

// specField leads from a field of a PodTemplate to that of a workload.
func specField(name string, claims map[int]int) string {
	if name != "template" && !strings.HasPrefix(name, "template.") {
		return "spec.template" // The rest of the PodTemplate is ours, not the user's.
	}
	if rest, ok := strings.CutPrefix(name, "template.spec.volumes["); ok {
		number, below, _ := strings.Cut(rest, "]")
		if at, err := strconv.Atoi(number); err == nil {
			if claim, ok := claims[at]; ok {
				return "spec.volumeClaimTemplates[" + strconv.Itoa(claim) + "]" + claimField(below)
			}
		}
	}
	return "spec." + name
}

// claimField leads from a field of a volume to that of the claim template that
// the volume stands for.
func claimField(below string) string {
	if below == ".name" || strings.HasPrefix(below, ".persistentVolumeClaim") {
		return ".metadata.name"
	}
	return ""
}
