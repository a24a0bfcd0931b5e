// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"pgregory.net/rapid"
)

// converter lets the field managers of an API server convert objects as its webhook does.
type converter func(object []byte, apiVersion string) ([]byte, error)

// ConvertToVersion converts an object.
func (c converter) ConvertToVersion(in runtime.Object, version runtime.GroupVersioner) (runtime.Object, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	data, err = c(data, version.(schema.GroupVersion).String())
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(data)
}

// Convert is not asked for.
func (converter) Convert(_, _, _ any) error { return fmt.Errorf("not to be called") }

// ConvertFieldLabel is not asked for.
func (converter) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", fmt.Errorf("not to be called")
}

// New makes an object, of which no more is asked.
func (converter) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	return out, nil
}

// Default does nothing.
func (converter) Default(runtime.Object) {}

// applied is an object that field managers apply in two versions. It keeps account of which of them owns what.
type applied struct {
	*rapid.T
	convert converter
	kind    string
	live    *unstructured.Unstructured
	// values are those of fields, by their path in v1beta1, and owners who has applied them.
	values map[string]any
	owners map[string]map[string]bool
}

// apply has a manager apply all that it wants, in a version, whatever others want.
func (a *applied) apply(manager, version string, fields map[string]any) {
	gvk := schema.FromAPIVersionAndKind(version, a.kind)
	managers, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), a.convert, a.convert, a.convert, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		a.Fatal(err)
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{}}
	wanted.SetGroupVersionKind(gvk)
	wanted.SetName("web")
	for path, value := range fields {
		if err := unstructured.SetNestedField(wanted.Object, value, strings.Split(path, ".")...); err != nil {
			a.Fatal(err)
		}
	}
	after, err := managers.Apply(a.in(version), wanted, manager, true)
	if err != nil {
		a.Fatalf("%s applies %v: %v", manager, fields, err)
	}
	a.live = after.(*unstructured.Unstructured)
	a.account(manager, fields)
}

// account notes who owns what now.
func (a *applied) account(manager string, fields map[string]any) {
	for path, owners := range a.owners {
		if _, wants := fields[path]; !wants && owners[manager] {
			delete(owners, manager)
			if len(owners) == 0 {
				delete(a.owners, path)
				delete(a.values, path)
			}
		}
	}
	for path, value := range fields {
		if !cmp.Equal(a.values[path], value) {
			a.owners[path] = nil
		}
		if a.owners[path] == nil {
			a.owners[path] = map[string]bool{}
		}
		a.owners[path][manager], a.values[path] = true, value
	}
}

func (a *applied) in(version string) *unstructured.Unstructured {
	out, err := a.convert.ConvertToVersion(a.live, schema.FromAPIVersionAndKind(version, a.kind).GroupVersion())
	if err != nil {
		a.Fatal(err)
	}
	return out.(*unstructured.Unstructured)
}

// values are those that an object has at the ends of its paths, but for what every object has.
func values(object map[string]any) map[string]any {
	all := map[string]any{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		below, is := value.(map[string]any)
		for key, value := range below {
			walk(strings.TrimPrefix(path+"."+key, "."), value)
		}
		if !is {
			all[path] = value
		}
	}
	walk("", map[string]any{"spec": object["spec"], "status": object["status"]})
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// applyInBoth has managers apply what they like, in either version: what one no longer wants goes unless another one wants it, and all
// else stays. Later are the fields that v1beta1 alone has, by path, with values of them. (STS-V3, DS-V3)
func applyInBoth(t *testing.T, kind string, convert converter, later map[string][]any) {
	t.Helper()
	common := map[string][]any{"spec.replicas": {int64(3), int64(4)}, "spec.updateStrategy.type": {"OnDelete"}, "spec.selector.matchLabels.app": {"web"}}
	rapid.Check(t, func(t *rapid.T) {
		a := &applied{T: t, convert: convert, kind: kind, live: &unstructured.Unstructured{}, values: map[string]any{}, owners: map[string]map[string]bool{}}
		a.live.SetGroupVersionKind(schema.FromAPIVersionAndKind(rapid.SampledFrom([]string{alpha, beta}).Draw(t, "created in"), kind))
		a.live.SetName("web")
		for range rapid.IntRange(2, 8).Draw(t, "requests") {
			version := rapid.SampledFrom([]string{alpha, beta}).Draw(t, "version")
			fields := maps.Clone(common)
			if version == beta {
				maps.Copy(fields, later)
			}
			manager := rapid.SampledFrom([]string{"one", "two"}).Draw(t, "manager") + " in " + version
			wanted := map[string]any{}
			for _, path := range slices.Sorted(maps.Keys(fields)) {
				if rapid.Bool().Draw(t, path) {
					wanted[path] = rapid.SampledFrom(fields[path]).Draw(t, "value")
				}
			}
			a.apply(manager, version, wanted)
			if diff := cmp.Diff(a.values, values(a.in(beta).Object)); diff != "" {
				t.Fatalf("%s applied %v (-want +got):\n%s\n%s", manager, wanted, diff, a.in(alpha).GetAnnotations())
			}
		}
	})
}
