// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
)

func TestEnvHash(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []inplace.EnvValue
		want uint64
	}{
		{"CM-4.1: none", nil, 86995377},
		{"CM-4.1: an empty list", []inplace.EnvValue{}, 86995377},
		{"CM-4.1: A=1", []inplace.EnvValue{{"A", "1"}}, 143497458},
		{"CM-4.1: A is empty", []inplace.EnvValue{{"A", ""}}, 3524302846},
		{"CM-4.1: A=v1, B=x", []inplace.EnvValue{{"A", "v1"}, {"B", "x"}}, 3138158569},
		{"CM-4.1: sorted by name", []inplace.EnvValue{{"B", "x"}, {"A", "v1"}}, 3138158569},
		{"CM-4.1: escaped", []inplace.EnvValue{{"A", "<a>&"}}, 3331336951},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := inplace.EnvHash(tt.env)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	unsorted := []inplace.EnvValue{{"B", "x"}, {"A", "v1"}}
	if _, err := inplace.EnvHash(unsorted); err != nil || unsorted[0].Name != "B" {
		t.Errorf("the argument was sorted: %v, %v", unsorted, err)
	}
}

func TestExpectedEnv(t *testing.T) {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	literal := field("LITERAL", "metadata.labels['k']")
	literal.Value = "x"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{"k": "v", "x.io/y": "z"}, Annotations: map[string]string{"k": "a"},
	}}
	got := inplace.ExpectedEnv(pod, &corev1.Container{Env: []corev1.EnvVar{
		field("Z", "metadata.labels['k']"), field("ANNOTATION", "metadata.annotations['k']"), field("ABSENT", "metadata.labels['none']"),
		field("SLASH", "metadata.labels['x.io/y']"), literal, {Name: "PLAIN", Value: "p"},
		field("NAME", "metadata.name"), field("ALL", "metadata.labels"), field("IP", "status.podIP"), field("OPEN", "metadata.labels['k'"),
		field("SIDECARSET_VERSION", "metadata.annotations['k']"), field("SIDECARSET_VERSION_ALT", "metadata.annotations['k']"),
		{Name: "SECRET", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}},
	}})
	want := []inplace.EnvValue{{"Z", "v"}, {"ANNOTATION", "a"}, {"ABSENT", ""}, {"SLASH", "z"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CM-4.1: -want +got:\n%s", diff)
	}
}

func TestPlainHashes(t *testing.T) {
	got, err := inplace.PlainHashes(&corev1.Container{Name: "main", Image: "nginx:1.0"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(got, 877854714) {
		t.Errorf("CM-4.2: got %v, want 877854714 among them", got)
	}
}
