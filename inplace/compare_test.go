// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
)

func TestCompare(t *testing.T) {
	envK, envA := env(1, "K", "metadata.labels['k']"), env(1, "A", "metadata.annotations['a']")
	for _, tt := range []struct {
		name     string
		from, to *corev1.PodTemplateSpec
		want     string
	}{
		{"nothing", template(), template(), "nothing changes in the pod"},
		{"an image", template(), template(image(0, "c1:2")), "the pod stays, containers restart:\n  container \"c1\": image c1:1 becomes c1:2"},
		{
			"metadata", template(),
			template(label("z", "1"), label("k", "w"), noAnnotations, func(t *corev1.PodTemplateSpec) { t.Finalizers = []string{"f"} }),
			"the pod stays, no container restarts:\n  metadata changes without a restart: label k, label z, annotation a, finalizers",
		},
		{
			"environment and images, in the order of the template", template(envK, envA),
			template(envK, envA, label("k", "w"), annotate("a", "c"), label("z", "1"), image(1, "c2:2"), image(0, "c1:2")),
			"the pod stays, containers restart:\n" +
				"  container \"c1\": image c1:1 becomes c1:2\n" +
				"  container \"c2\": image c2:1 becomes c2:2; its environment refers to metadata.annotations['a'], metadata.labels['k']\n" +
				"  metadata changes without a restart: label z",
		},
		{
			"an obstacle", template(), template(image(0, "c1:2"), func(t *corev1.PodTemplateSpec) { t.Spec.HostNetwork = true }),
			"the pod is recreated:\n  add /spec/hostNetwork: of a running pod only container images, labels, annotations and finalizers can be changed",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := inplace.Compare(tt.from, tt.to, inplace.CalculateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, v.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if v.InPlace() != (len(v.Obstacles) == 0) {
				t.Errorf("in place %t with obstacles %v", v.InPlace(), v.Obstacles)
			}
		})
	}
	for _, pair := range [][2]*corev1.PodTemplateSpec{{nil, template()}, {template(), nil}} {
		if _, err := inplace.Compare(pair[0], pair[1], inplace.CalculateOptions{}); err == nil {
			t.Error("a nil template is no error")
		}
	}
}
