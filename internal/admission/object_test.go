// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestIsAbout(t *testing.T) {
	kind := v1alpha1.Kind("CloneSet")
	for _, tt := range []struct {
		name                              string
		group, version, kind, subresource string
		want                              bool
	}{
		{"the kind", "apps.kruise.io", "v1alpha1", "CloneSet", "", true},
		{"another version", "apps.kruise.io", "v1", "CloneSet", "", true},
		{"another group", "apps", "v1alpha1", "CloneSet", "", false},
		{"another kind", "apps.kruise.io", "v1alpha1", "StatefulSet", "", false},
		{"a subresource", "apps.kruise.io", "v1alpha1", "CloneSet", "scale", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &admissionv1.AdmissionRequest{Kind: metav1.GroupVersionKind{Group: tt.group, Version: tt.version, Kind: tt.kind}, SubResource: tt.subresource}
			if got := admission.IsAbout(r, kind); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	named := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, tt := range []struct {
		name          string
		operation     admissionv1.Operation
		object, old   string
		want, wantOld *metav1.PartialObjectMetadata
		wantErr       string
	}{
		{"create", admissionv1.Create, `{"metadata":{"name":"a"}}`, ``, named("a"), nil, ""},
		{"update", admissionv1.Update, `{"metadata":{"name":"a"}}`, `{"metadata":{"name":"b"}}`, named("a"), named("b"), ""},
		{"keys of another case are others", admissionv1.Create, `{"metadata":{"Name":"a"}}`, ``, named(""), nil, ""},
		{"no object", admissionv1.Create, ``, ``, nil, nil, "object: want a Web as JSON: unexpected end of JSON input"},
		{"a list", admissionv1.Create, `[]`, ``, nil, nil, "object: want a Web as JSON: json: cannot unmarshal array into Go value of type v1.PartialObjectMetadata"},
		{"no stored object", admissionv1.Update, `{}`, ``, named(""), nil, "oldObject: want a Web as JSON: unexpected end of JSON input"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			object, old, err := admission.Objects[metav1.PartialObjectMetadata](&admissionv1.AdmissionRequest{
				Operation: tt.operation, Kind: metav1.GroupVersionKind{Kind: "Web"},
				Object: runtime.RawExtension{Raw: []byte(tt.object)}, OldObject: runtime.RawExtension{Raw: []byte(tt.old)},
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.wantErr {
				t.Fatalf("error %q, want %q", got, tt.wantErr)
			}
			if diff := cmp.Diff(tt.want, object); err == nil && diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.wantOld, old); err == nil && diff != "" {
				t.Errorf("old (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDeleted(t *testing.T) {
	validate := func(object *metav1.PartialObjectMetadata) error {
		if object.Name == "kept" {
			return errors.New("it is needed")
		}
		return nil
	}
	type answer struct {
		Allowed bool
		Code    int32
		Reason  metav1.StatusReason
		Message string
	}
	for _, tt := range []struct {
		name, old string
		want      answer
	}{
		{"allowed", `{"metadata":{"name":"a"}}`, answer{Allowed: true}},
		{"no object", ``, answer{Allowed: true}},
		{"refused", `{"metadata":{"name":"kept"}}`, answer{false, 403, metav1.StatusReasonForbidden, "it is needed"}},
		{"no JSON", `{`, answer{false, 400, metav1.StatusReasonBadRequest, "oldObject: want a Web as JSON: unexpected end of JSON input"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			response := admission.Deleted(&admissionv1.AdmissionRequest{Kind: metav1.GroupVersionKind{Kind: "Web"}, OldObject: runtime.RawExtension{Raw: []byte(tt.old)}}, validate)
			got := answer{Allowed: response.Allowed}
			if r := response.Result; r != nil {
				got.Code, got.Reason, got.Message = r.Code, r.Reason, r.Message
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}
