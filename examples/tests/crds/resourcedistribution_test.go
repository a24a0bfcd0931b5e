// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// resourceDistribution is a ResourceDistribution as YAML with these lines in its spec.
func resourceDistribution(lines string) string {
	return "apiVersion: apps.kruise.io/v1alpha1\nkind: ResourceDistribution\nmetadata: {name: pull}\nspec:\n  " +
		strings.ReplaceAll(lines, "\n", "\n  ")
}

// RD-16: what the rules of the definition refuse, the webhook refuses too.
func TestResourceDistribution(t *testing.T) {
	v := newValidator(t, "resourcedistributions.apps.kruise.io", "v1alpha1")
	const targets = "\ntargets: {allNamespaces: true}"
	for _, test := range []struct{ name, spec, want string }{
		{"a Secret", "resource: {apiVersion: v1, kind: Secret, metadata: {name: a}, data: {key: dmFsdWU=}}" + targets, ""},
		{"a ConfigMap", "resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {key: value}}" + targets, ""},
		{"another kind", "resource: {apiVersion: v1, kind: Pod, metadata: {name: a}}" + targets, "spec.resource: unknown or unsupported resource GroupKind, only support [Secret ConfigMap]"},
		{"another group", "resource: {apiVersion: a/v1, kind: Secret, metadata: {name: a}}" + targets, "spec.resource: unknown or unsupported resource GroupKind, only support [Secret ConfigMap]"},
		{"RD-18: a source", "sourceRef: {namespace: base, name: registry}\nresource: {apiVersion: v1, kind: Secret, metadata: {name: a}}" + targets, ""},
		{"RD-18: a source without a name", "sourceRef: {namespace: base, name: ''}\nresource: {apiVersion: v1, kind: Secret, metadata: {name: a}}" + targets, "spec.sourceRef: must name a namespace and an object in it"},
		{"no name", "resource: {apiVersion: v1, kind: Secret}" + targets, "spec.resource: metadata.name must name the copies"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			object := resourceDistribution(test.spec)
			check(t, want, v.judge(t, object, ""))
			if errs := resource.ValidateCreate(read[v1alpha1.ResourceDistribution](t, object)); len(errs) != len(want) {
				t.Errorf("the webhook: %v", errs)
			}
		})
	}
	old := resourceDistribution("resource: {apiVersion: v1, kind: Secret, metadata: {name: a}}" + targets)
	check(t, nil, v.judge(t, resourceDistribution("resource: {apiVersion: v1, kind: Secret, metadata: {name: a, labels: {b: c}}, data: {key: dmFsdWU=}}\ntargets: {}"), old))
	for _, changed := range []string{"kind: ConfigMap, metadata: {name: a}", "kind: Secret, metadata: {name: b}"} {
		check(t, []string{"spec.resource: resource apiVersion, kind, and name are immutable"},
			v.judge(t, resourceDistribution("resource: {apiVersion: v1, "+changed+"}"+targets), old))
	}
}
