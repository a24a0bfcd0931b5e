// SPDX-License-Identifier: Apache-2.0

package podprobemarker

import (
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func about(t *testing.T, object, old *v1alpha1.PodProbeMarker) *admissionv1.AdmissionRequest {
	t.Helper()
	encode := func(m *v1alpha1.PodProbeMarker) []byte {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	r := &admissionv1.AdmissionRequest{UID: "uid", Kind: metav1.GroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("PodProbeMarker")),
		Operation: admissionv1.Create, Namespace: "shop", Name: "games"}
	r.Object.Raw = encode(object)
	if old != nil {
		r.Operation, r.OldObject.Raw = admissionv1.Update, encode(old)
	}
	return r
}

// PPM-1.1: the codes on the wire.
func TestWebhook(t *testing.T) {
	w := &Webhook{}
	wrong := newMarker(func(m *v1alpha1.PodProbeMarker) { m.Spec.Probes = nil })
	released := wrong.DeepCopy()
	released.Finalizers = nil
	for _, test := range []struct {
		name        string
		object, old *v1alpha1.PodProbeMarker
		want        int32
	}{
		{"right", newMarker(), nil, 200},
		{"wrong", wrong, nil, 400},
		{"made wrong", wrong, newMarker(), 400},
		{"wrong before, and loses its finalizer", released, wrong, 200},
	} {
		answer := w.Validate(t.Context(), about(t, test.object, test.old))
		if answer.Allowed != (test.want == 200) || !answer.Allowed && (answer.Result.Code != test.want || !strings.Contains(answer.Result.Message, "spec.probes: Required value")) {
			t.Errorf("%s: %+v, want code %d", test.name, answer.Result, test.want)
		}
	}
	if _, found := w.Handlers()[ValidatePath]; !found || len(w.Handlers()) != 1 {
		t.Errorf("handlers %v", w.Handlers())
	}
}

// PPM-1.3: names with the character that divides them are refused if that is asked for, unless they stand already.
func TestPlainNames(t *testing.T) {
	named := func(name string) *v1alpha1.PodProbeMarker {
		return newMarker(func(m *v1alpha1.PodProbeMarker) { m.Spec.Probes[0].Name = name })
	}
	relabelled := named("a#b")
	relabelled.Spec.Probes[0].Probe.PeriodSeconds = 7
	for _, test := range []struct {
		name        string
		object, old *v1alpha1.PodProbeMarker
		want        string // with PlainNames; without them all may be saved
	}{
		{"new", named("a#b"), nil, `spec.probes[0].name: Invalid value: "a#b": probe name can't contains '#'.`},
		{"renamed", named("a#b"), named("a"), `spec.probes[0].name: Invalid value: "a#b": probe name can't contains '#'.`},
		{"it stands, and the probe changes", relabelled, named("a#b"), ""},
		{"plain", named("a"), nil, ""},
	} {
		for plain, want := range map[bool]string{true: test.want, false: ""} {
			answer := (&Webhook{PlainNames: plain}).Validate(t.Context(), about(t, test.object, test.old))
			if answer.Allowed != (want == "") || !answer.Allowed && (answer.Result.Code != 400 || !strings.Contains(answer.Result.Message, want)) {
				t.Errorf("PPM-1.3: %s, PlainNames %t: %+v, want %q", test.name, plain, answer.Result, want)
			}
		}
	}
}
