// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// A webhook that sets a default and one that refuses a wrong value, served side
// by side.
func Example() {
	mutate := func(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		cs := &v1alpha1.CloneSet{}
		if err := json.Unmarshal(request.Object.Raw, cs); err != nil {
			return admission.Errored(err)
		}
		if cs.Spec.Replicas == nil {
			cs.Spec.Replicas = ptr.To[int32](1)
		}
		return admission.Patched(request.Object.Raw, cs)
	}
	validate := func(_ context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		cs := &v1alpha1.CloneSet{}
		if err := json.Unmarshal(request.Object.Raw, cs); err != nil {
			return admission.Errored(err)
		}
		var errs field.ErrorList
		if replicas := ptr.Deref(cs.Spec.Replicas, 1); replicas < 0 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "replicas"), replicas, "must be 0 or more"))
		}
		return admission.Validated(request, errs)
	}
	mux := http.NewServeMux()
	mux.Handle("/mutate", admission.Handler(mutate))
	mux.Handle("/validate", admission.Handler(validate))

	// A webhook is a function: it can be tried without a server.
	request := &admissionv1.AdmissionRequest{Name: "web"}
	request.Object.Raw = []byte(`{"spec":{"minReadySeconds":5}}`)
	fmt.Println(string(mutate(context.Background(), request).Patch))
	request.Object.Raw = []byte(`{"spec":{"replicas":-1}}`)
	fmt.Println(validate(context.Background(), request).Result.Code)
	// Output:
	// [{"op":"add","path":"/spec/replicas","value":1}]
	// 422
}
