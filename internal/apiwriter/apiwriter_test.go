// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

func TestVersionOf(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	object := &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"},
		ObjectMeta: metav1.ObjectMeta{Name: "web-1", ResourceVersion: "42"},
	}
	encoded, err := runtime.Encode(protobuf.NewSerializer(scheme, scheme), object)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, raw, want string
		fails           bool
	}{
		{"protobuf", string(encoded), "42", false},
		{"JSON", `{"kind":"PartialObjectMetadata","metadata":{"resourceVersion":"42"}}`, "42", false},
		{"a whole pod, from a server that sends no less", `{"kind":"Pod","metadata":{"resourceVersion":"42"},"spec":{}}`, "42", false},
		{"a list", `{"kind":"PodList","metadata":{"resourceVersion":"42","continue":"x"},"items":[{}]}`, "42", false},
		{"a status, the answer to a deletion at once", `{"kind":"Status","status":"Success"}`, "", false},
		{"no JSON", "gone", "", true},
		{"broken protobuf", "k8s\x00\xff", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := versionOf([]byte(test.raw))
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func FuzzVersionOf(f *testing.F) {
	f.Add([]byte(`{"metadata":{"resourceVersion":"42"}}`))
	f.Add([]byte("k8s\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if version, err := versionOf(raw); err != nil && version != "" {
			t.Errorf("version %q beside error %v", version, err)
		}
	})
}

func TestUnanswered(t *testing.T) {
	pods := corev1.Resource("pods")
	for _, test := range []struct {
		err  error
		want bool
	}{
		{context.DeadlineExceeded, true},
		{fmt.Errorf("patch pod web-1: %w", context.Canceled), true},
		{apierrors.NewInternalError(context.Canceled), true},
		{apierrors.NewServerTimeout(pods, "patch", 1), true},
		{apierrors.NewGenericServerResponse(502, "patch", pods, "web-1", "", 0, true), true},
		{apierrors.NewGenericServerResponse(504, "patch", pods, "web-1", "", 0, true), true},
		{apierrors.NewTooManyRequests("later", 1), false},
		{fmt.Errorf("patch pod web-1: %w", apierrors.NewConflict(pods, "web-1", nil)), false},
		{apierrors.NewForbidden(pods, "web-1", nil), false},
	} {
		if got := Unanswered(test.err); got != test.want {
			t.Errorf("%v: %t, want %t", test.err, got, test.want)
		}
	}
}
