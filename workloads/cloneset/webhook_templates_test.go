// SPDX-License-Identifier: Apache-2.0

package cloneset_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/workloads/cloneset"
)

func TestVerdictOnTemplate(t *testing.T) {
	for _, tt := range []struct {
		name     string
		err      error
		want     string
		warnings []string
	}{
		{"valid", nil, "", nil},
		{"invalid", apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "template-check-", field.ErrorList{
			field.Required(field.NewPath("template", "spec", "a"), "why"), field.Invalid(field.NewPath("template", "spec", "volumes").Index(0), "x", "is odd"),
		}), "422 spec.template.spec.a spec.volumeClaimTemplates[0]", nil},
		{"no verdict", context.DeadlineExceeded, "", []string{"spec.template was checked only in part, because the API server gave no verdict on it: the request failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			webhook := cloneset.Webhook{Templates: checkTemplates(func(context.Context, string, *corev1.PodTemplateSpec) error { return tt.err })}
			got := webhook.Validate(t.Context(), request(admissionv1.Create, specWith(`"volumeClaimTemplates":[{"metadata":{"name":"data"}}]`), ""))
			if diff := cmp.Diff(tt.want, verdict(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTemplateIsCheckedWhenItChanges(t *testing.T) {
	newImage := func(set string) string { return strings.Replace(set, "nginx:1.21", "nginx:1.22", 1) }
	for _, tt := range []struct {
		name        string
		object, old string
		want        int
	}{
		{"create", specWith(""), "", 1},
		{"create, invalid otherwise", specWith(`"replicas":-1`), "", 0},
		{"update of the template", newImage(specWith("")), specWith(""), 1},
		{"update of the claim templates", specWith(`"volumeClaimTemplates":[{"metadata":{"name":"data"}}]`), specWith(""), 1},
		{"update of something else", specWith(`"replicas":3`), specWith(""), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			webhook := cloneset.Webhook{Templates: checkTemplates(func(context.Context, string, *corev1.PodTemplateSpec) error { calls++; return nil })}
			operation := admissionv1.Update
			if tt.old == "" {
				operation = admissionv1.Create
			}
			webhook.Validate(t.Context(), request(operation, tt.object, tt.old))
			if calls != tt.want {
				t.Errorf("checked %d times, want %d", calls, tt.want)
			}
		})
	}
}
