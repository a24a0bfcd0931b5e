// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-state-metrics/v2/pkg/customresourcestate"
	kyaml "sigs.k8s.io/yaml"
)

// field returns the schema of a field, and whether every object has it.
func field(in *apiextensionsv1.JSONSchemaProps, path ...string) (_ *apiextensionsv1.JSONSchemaProps, required bool, _ error) {
	required = true
	for i, part := range path {
		if in.Items != nil && strings.HasPrefix(part, "[") { // the item for which a field has a value
			name, _, _ := strings.Cut(strings.TrimPrefix(part, "["), "=")
			if _, _, err := field(in.Items.Schema, name); err != nil {
				return nil, false, err
			}
			in, required = in.Items.Schema, false
			continue
		}
		next, ok := in.Properties[part]
		if !ok {
			return nil, false, fmt.Errorf("%s is no field: there is none after %q", strings.Join(path, "."), path[:i])
		}
		required = required && slices.Contains(in.Required, part)
		in = &next
	}
	return in, required, nil
}

// metadata is the schema of what this file reads of ObjectMeta, which no CRD describes.
var metadata = apiextensionsv1.JSONSchemaProps{
	Required: []string{"name", "namespace", "generation", "creationTimestamp"},
	Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": {Type: "string"}, "namespace": {Type: "string"}, "generation": {Type: "integer"},
		"creationTimestamp": {Type: "string", Format: "date-time"},
	},
}

// Every kind has its metrics, and every path is a field of the version that is stored.
func TestPaths(t *testing.T) {
	missing := map[schema.GroupVersionKind]definition{}
	for kind, d := range definitions(t) {
		if d.stored {
			missing[kind] = d
		}
	}
	for _, r := range configured(t) {
		kind := schema.GroupVersionKind(r.GroupVersionKind)
		d, ok := missing[kind]
		if !ok {
			t.Errorf("%s is there twice, or no CRD stores it", kind)
			continue
		}
		delete(missing, kind)
		want := map[string][]string{strings.ToLower(kind.Kind): {"metadata", "name"}}
		if d.namespaced {
			want["namespace"] = []string{"metadata", "namespace"}
		}
		if fmt.Sprint(r.LabelsFromPath) != fmt.Sprint(want) || *r.MetricNamePrefix != "kruise_"+strings.ToLower(kind.Kind) {
			t.Errorf("%s has the labels %v and the prefix %s, want %v and kruise_ and the kind", kind, r.LabelsFromPath, *r.MetricNamePrefix, want)
		}
		root := *d.schema
		root.Properties["metadata"] = metadata
		for _, g := range r.Metrics {
			if err := checkPaths(&root, g); err != nil {
				t.Errorf("%s, %s: %v", kind, g.Name, err)
			}
		}
	}
	for kind := range missing {
		t.Errorf("nothing is shown of %s", kind)
	}
}

// checkPaths returns an error for a metric that would have no value, or lack that of zero.
func checkPaths(root *apiextensionsv1.JSONSchemaProps, g customresourcestate.Generator) error {
	at, required, err := field(root, meta(g.Each).Path...)
	if err != nil {
		return err
	}
	if at.Items != nil {
		at = at.Items.Schema // there is one metric for each item
	}
	for label, path := range meta(g.Each).LabelsFromPath {
		if _, _, err := field(at, path...); err != nil {
			return fmt.Errorf("label %s: %w", label, err)
		}
	}
	switch {
	case g.Each.StateSet != nil:
		at, _, err = field(at, g.Each.StateSet.ValueFrom...)
		if err == nil && at.Type != "string" {
			err = fmt.Errorf("the field is of type %q", at.Type)
		}
	case g.Each.Gauge != nil:
		at, _, err = field(at, g.Each.Gauge.ValueFrom...)
		if err != nil {
			return err
		}
		each := len(g.Each.Gauge.ValueFrom) > 0 || g.Each.Gauge.LabelFromKey != ""
		maybe := g.Name == "spec_replicas" || g.Name == "status_observed_generation" // not zero if they are absent
		switch zero := g.Each.Gauge.NilIsZero; {
		case each && zero:
			err = fmt.Errorf("nilIsZero shows a zero without an item")
		case each:
		case at.Type == "string" && at.Format == "date-time" && !zero:
		case at.XIntOrString && zero: // kube-state-metrics makes 0.5 of 50%
		case at.Type != "integer" && at.Type != "boolean":
			err = fmt.Errorf("type %q, format %q, nilIsZero %t", at.Type, at.Format, zero)
		case inside(root, meta(g.Each).Path, required) == zero && !maybe:
			err = fmt.Errorf("nilIsZero is %t", zero)
		}
	}
	return err
}

// inside reports whether a field stands in every object that has the first part of its path, spec or status.
func inside(root *apiextensionsv1.JSONSchemaProps, path []string, required bool) bool {
	if required || path[0] == "metadata" {
		return true
	}
	top := root.Properties[path[0]]
	_, required, _ = field(&top, path[1:]...)
	return required
}

// kube-state-metrics may watch all kinds, and nothing else: rbac.yaml is written from the CRDs.
func TestRights(t *testing.T) {
	groups := map[string][]string{"apiextensions.k8s.io": {"customresourcedefinitions"}} // which versions of kinds there are
	for kind, d := range definitions(t) {
		if d.stored {
			groups[kind.Group] = append(groups[kind.Group], d.plural)
		}
	}
	role := rbacv1.ClusterRole{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, ObjectMeta: metav1.ObjectMeta{Name: "podwright-kube-state-metrics"}}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		slices.Sort(groups[group])
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: groups[group], Verbs: []string{"list", "watch"}})
	}
	manifest, err := kyaml.Marshal(role)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "rbac.yaml", append([]byte("# What kube-state-metrics reads for customresourcestate.yaml. Bind it to its ServiceAccount.\n"), manifest...))
}

// The objects of testdata have no field that their CRD lacks.
func TestObjects(t *testing.T) {
	all := definitions(t)
	for _, object := range objects(t) {
		d, ok := all[object.GroupVersionKind()]
		if !ok {
			t.Errorf("%s is no kind", object.GroupVersionKind())
			continue
		}
		for _, part := range []string{"spec", "status"} {
			top := d.schema.Properties[part]
			if err := known(&top, object.Object[part]); err != nil {
				t.Errorf("%s: %s%v", object.GetKind(), part, err)
			}
		}
	}
}

func known(in *apiextensionsv1.JSONSchemaProps, value any) error {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if in.Items == nil {
				return fmt.Errorf(" is no list")
			}
			if err := known(in.Items.Schema, item); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range value {
			next, ok := in.Properties[name]
			if in.AdditionalProperties != nil {
				next, ok = *in.AdditionalProperties.Schema, true
			}
			if !ok {
				return fmt.Errorf(".%s is no field", name)
			}
			if err := known(&next, item); err != nil {
				return fmt.Errorf(".%s%w", name, err)
			}
		}
	}
	return nil
}
