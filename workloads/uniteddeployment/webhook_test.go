// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func request(t *testing.T, operation admissionv1.Operation, set, old *v1alpha1.UnitedDeployment) *admissionv1.AdmissionRequest {
	t.Helper()
	raw := func(set *v1alpha1.UnitedDeployment) runtime.RawExtension {
		if set == nil {
			return runtime.RawExtension{}
		}
		data, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: data}
	}
	return &admissionv1.AdmissionRequest{UID: "uid", Operation: operation, Namespace: "default", Name: "web", Object: raw(set), OldObject: raw(old),
		Kind: metav1.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "UnitedDeployment"}}
}

// UD-14, UD-15: what the webhook does with new ones, with changes and with deletions.
func TestWebhook(t *testing.T) {
	w := &uniteddeployment.Webhook{}
	paths := slices.Sorted(maps.Keys(w.Handlers()))
	if diff := cmp.Diff([]string{uniteddeployment.MutatePath, uniteddeployment.ValidatePath}, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	set := newSet(t, uniteddeployment.StatefulSet, "web", "")
	answer := w.Default(t.Context(), request(t, admissionv1.Create, set, nil))
	for _, want := range []string{"/spec/replicas", "/spec/revisionHistoryLimit", "/spec/updateStrategy", "dnsPolicy"} {
		if !answer.Allowed || !strings.Contains(string(answer.Patch), want) {
			t.Errorf("the patch of a new one lacks %s: %s", want, answer.Patch)
		}
	}
	fixed := newSet(t, uniteddeployment.CloneSet, "web", "replicas: 4\ntopology: {subsets: [{name: a, replicas: 2}, {name: b, replicas: 2}]}")
	scaled := fixed.DeepCopy()
	scaled.Spec.Replicas = new(int32(9))
	limited := newSet(t, uniteddeployment.CloneSet, "web", "replicas: 1\ntopology: {subsets: [{name: a, minReplicas: 2}, {name: b}]}")
	roomy := limited.DeepCopy()
	roomy.Spec.Replicas = new(int32(2))
	protected := fixed.DeepCopy()
	protected.Labels = map[string]string{"policy.kruise.io/delete-protection": "Always"}
	for _, test := range []struct {
		name     string
		request  *admissionv1.AdmissionRequest
		disabled bool
		want     string
	}{
		{"UD-15.5: limits that are too much, not read", request(t, admissionv1.Create, limited, nil), true, ""},
		{"UD-15.5: and read", request(t, admissionv1.Create, limited, nil), false, "422 spec.topology.subsets"},
		{"UD-15.5: what an autoscaler writes", request(t, admissionv1.Update, limited, roomy), false, ""},
		{"a good one", request(t, admissionv1.Create, fixed, nil), false, ""},
		{"a bad one", request(t, admissionv1.Create, scaled, nil), false, "422 spec.topology.subsets"},
		{"what an autoscaler writes", request(t, admissionv1.Update, scaled, fixed), false, ""},
		{"a deletion", request(t, admissionv1.Delete, nil, fixed), false, ""},
		{"UD-15.4: a deletion of a protected one", request(t, admissionv1.Delete, nil, protected), false, "403 forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Always"},
		{"UD-15.4: likewise, with the protection switched off", request(t, admissionv1.Delete, nil, protected), true, ""},
	} {
		w := &uniteddeployment.Webhook{DisableDeletionProtection: test.disabled, AdaptiveScheduling: !test.disabled}
		if got := strings.TrimSpace(conformance.Verdict(w.Validate(t.Context(), test.request))); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// UD-15.1: new and changed templates are judged by the API server, beside those of CloneSets.
func TestWebhookAsksAboutTemplates(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "check", field.ErrorList{field.Required(field.NewPath("template", "spec", "a"), "why")})
	sts, clone := newSet(t, uniteddeployment.StatefulSet, "web", ""), newSet(t, uniteddeployment.CloneSet, "web", "")
	scaled := sts.DeepCopy()
	scaled.Spec.Replicas = new(int32(5))
	for _, test := range []struct {
		name     string
		set, old *v1alpha1.UnitedDeployment
		verdict  error
		want     string
		warnings int
	}{
		{"valid", sts, nil, nil, "", 0},
		{"invalid", sts, nil, invalid, "422 spec.template.statefulSetTemplate.spec.template.spec.a", 0},
		{"another kind of template", sts, clone, invalid, "422 spec.template.statefulSetTemplate.spec.template.spec.a", 0},
		{"no verdict", sts, nil, errors.New("no"), "", 1},
		{"the same template", scaled, sts, invalid, "", 0},
		{"of CloneSets", clone, nil, invalid, "", 0},
	} {
		w := &uniteddeployment.Webhook{Templates: conformance.CheckTemplates(func(context.Context, string, *corev1.PodTemplateSpec) error { return test.verdict })}
		operation := admissionv1.Create
		if test.old != nil {
			operation = admissionv1.Update
		}
		answer := w.Validate(t.Context(), request(t, operation, test.set, test.old))
		if got := conformance.Verdict(answer); got != test.want || len(answer.Warnings) != test.warnings {
			t.Errorf("%s: %q and warnings %q, want %q", test.name, got, answer.Warnings, test.want)
		}
	}
	if n := len((&uniteddeployment.Webhook{}).Rules()); n != 0 {
		t.Errorf("%d rules without a dry run", n)
	}
}
