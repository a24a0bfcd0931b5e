// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/admission"
)

func TestResponses(t *testing.T) {
	request := &admissionv1.AdmissionRequest{
		Name:     "web",
		Kind:     metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"},
		Resource: metav1.GroupVersionResource{Group: "apps.kruise.io", Version: "v1alpha1", Resource: "clonesets"},
	}
	type answer struct {
		Allowed bool
		Code    int32
		Reason  metav1.StatusReason
		Message string
		Fields  []string
	}
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "p", errors.New("changed"))
	for _, test := range []struct {
		name     string
		response *admissionv1.AdmissionResponse
		want     answer
	}{
		{"allowed", admission.Allowed(), answer{Allowed: true}},
		{"valid", admission.Validated(request, nil), answer{Allowed: true}},
		{"invalid", admission.Validated(request, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), -1, "must be 0 or more"),
			field.Required(field.NewPath("spec", "selector"), ""),
		}), answer{false, 422, metav1.StatusReasonInvalid,
			`CloneSet.apps.kruise.io "web" is invalid: [spec.replicas: Invalid value: -1: must be 0 or more, spec.selector: Required value]`,
			[]string{"spec.replicas", "spec.selector"}}},
		{"invalid, with another code", admission.Errored(admission.Invalid(request, field.ErrorList{field.Required(field.NewPath("spec", "selector"), "")}, 400, metav1.StatusReasonBadRequest)),
			answer{false, 400, metav1.StatusReasonBadRequest, `CloneSet.apps.kruise.io "web" is invalid: spec.selector: Required value`, []string{"spec.selector"}}},
		{"forbidden", admission.Errored(admission.Forbidden(request, "it is protected")), answer{false, 403, metav1.StatusReasonForbidden,
			`clonesets.apps.kruise.io "web" is forbidden: it is protected`, nil}},
		{"an error", admission.Errored(errors.New("no cache")), answer{false, 500, metav1.StatusReasonInternalError, "Internal error occurred: no cache", []string{""}}},
		{"an error of the API server", admission.Errored(fmt.Errorf("reading the pod: %w", conflict)), answer{false, 409, metav1.StatusReasonConflict,
			`reading the pod: Operation cannot be fulfilled on pods "p": changed`, nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := answer{Allowed: test.response.Allowed}
			if result := test.response.Result; result != nil {
				got.Code, got.Reason, got.Message = result.Code, result.Reason, result.Message
				for _, cause := range result.Details.Causes {
					got.Fields = append(got.Fields, cause.Field)
				}
				if result.Status != metav1.StatusFailure {
					t.Errorf("status %q, want %q", result.Status, metav1.StatusFailure)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}
