// SPDX-License-Identifier: Apache-2.0

// Package appliers plays field managers that apply an object of a kind in two versions, and judges what becomes of it.
// The API server's own code merges the fields and keeps account of who owns them. The judge keeps an account
// of its own: who wants what, and what is to be there for that.
package appliers

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"pgregory.net/rapid"
)

// The versions in which managers apply.
const (
	V1alpha1 = "apps.kruise.io/v1alpha1"
	V1beta1  = "apps.kruise.io/v1beta1"
)

// versions are both.
var versions = []string{V1alpha1, V1beta1}

// Kind is a kind in two versions.
type Kind struct {
	// Name is that of the kind.
	Name string
	// Convert converts an object as the webhook does.
	Convert func(object []byte, apiVersion string) ([]byte, error)
	// Types know the schemas of both versions. Types that are deduced from objects do not do: a manager owns empty maps then, which
	// conversion cannot tell from none.
	Types managedfields.TypeConverter
	// Fields are what managers may want of an object.
	Fields []Field
	// Refuses says that the API server refuses an object that is written in a version. Nil: it refuses none.
	Refuses func(version string, object map[string]any) bool
}

// Judge has managers apply what they like, in either version, by force or not. Then:
//
//   - what a manager has applied is in the object, in its version, until another one takes it by force,
//   - what no manager wants any more goes,
//   - without force, no manager takes from another one what has another value: it is told of a conflict,
//   - a request that is refused changes nothing.
func (k Kind) Judge(t *testing.T) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		p := &play{T: t, Kind: k, wants: map[string]map[string]any{}, in: map[string]string{}}
		p.stored = rapid.SampledFrom(versions).Draw(t, "stored in")
		p.live = &unstructured.Unstructured{}
		p.live.SetAPIVersion(p.stored)
		p.live.SetKind(k.Name)
		p.live.SetName("web")
		for range rapid.IntRange(2, 10).Draw(t, "requests") {
			p.step()
		}
	})
}

// play is one history of an object.
type play struct {
	*rapid.T
	Kind
	stored string
	live   *unstructured.Unstructured
	// wants are the values that each manager has applied and that no other one has taken since, by the names of fields.
	wants map[string]map[string]any
	// in is the version in which each has applied last.
	in map[string]string
}

// step has one manager apply all that it wants from now on.
func (p *play) step() {
	version := rapid.SampledFrom(versions).Draw(p.T, "version")
	manager := rapid.SampledFrom([]string{"one", "two", "three"}).Draw(p.T, "manager")
	force := rapid.Bool().Draw(p.T, "force")
	wanted := map[string]any{}
	for _, f := range p.Fields {
		if !rapid.Bool().Draw(p.T, f.Name) {
			continue
		}
		if value := rapid.SampledFrom(f.Values).Draw(p.T, "value"); f.Write(version, value) != nil {
			wanted[f.Name] = value
		}
	}
	what := fmt.Sprintf("%s applies %v in %s, by force: %t", manager, wanted, version, force)
	disputed := p.disputed(manager, wanted)
	after, err := p.apply(manager, version, wanted, force)
	switch {
	case apierrors.IsConflict(err):
		if force || !disputed {
			p.Fatalf("%s: %v, but no other manager wants other values: %v", what, err, p.wants)
		}
	case err != nil:
		p.Fatalf("%s: %v", what, err)
	case p.Refuses != nil && p.Refuses(version, after.Object):
	case disputed && !force:
		p.Fatalf("%s: no conflict, but others want other values: %v", what, p.wants)
	default:
		p.live = p.convert(after, p.stored)
		p.account(manager, version, wanted)
	}
	p.judge(what)
}

// disputed tells whether another manager has applied other values.
func (p *play) disputed(manager string, wanted map[string]any) bool {
	for other, values := range p.wants {
		for name, value := range values {
			if mine, both := wanted[name]; both && other != manager && !p.same(name, mine, value) {
				return true
			}
		}
	}
	return false
}

// same tells whether two values of a field are the same, however managers have written them.
func (p *play) same(name string, a, b any) bool {
	at := slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == name })
	return cmp.Equal(p.Fields[at].Write(V1beta1, a), p.Fields[at].Write(V1beta1, b))
}

// account notes who owns what after a request that has been granted.
func (p *play) account(manager, version string, wanted map[string]any) {
	for other, values := range p.wants {
		maps.DeleteFunc(values, func(name string, value any) bool {
			mine, both := wanted[name]
			return other == manager || both && !p.same(name, mine, value)
		})
	}
	p.wants[manager], p.in[manager] = maps.Clone(wanted), version
}

// judge compares the object with what its managers want.
func (p *play) judge(what string) {
	writes := map[string]any{}
	alpha, beta := p.convert(p.live, V1alpha1), p.convert(p.live, V1beta1)
	for manager, values := range p.wants {
		for _, f := range p.Fields {
			value, has := values[f.Name]
			if !has {
				continue
			}
			for _, w := range f.Write(V1beta1, value) {
				writes[fmt.Sprint(w.Path)] = w.Value
			}
			object := map[string]*unstructured.Unstructured{V1alpha1: alpha, V1beta1: beta}[p.in[manager]]
			for _, w := range f.Write(p.in[manager], value) {
				if got, _, _ := unstructured.NestedFieldNoCopy(object.Object, w.Path...); !cmp.Equal(w.Value, got) {
					p.Fatalf("%s\n%s wants %s to be %v in %s and reads %v of\n%v", what, manager, w.Path, w.Value, p.in[manager], got, object.Object)
				}
			}
		}
	}
	if diff := cmp.Diff(writes, ends(beta.Object, writes)); diff != "" {
		p.Fatalf("%s\n%s (-want +got):\n%s\nby way of\n%v", what, V1beta1, diff, alpha.Object)
	}
}

// ends are the values of an object at the ends of its paths, and at those that are known.
func ends(object map[string]any, known map[string]any) map[string]any {
	all := map[string]any{}
	var walk func(path []string, value any)
	walk = func(path []string, value any) {
		_, is := known[fmt.Sprint(path)]
		below, object := value.(map[string]any)
		if object && !is {
			for key, value := range below {
				walk(append(slices.Clone(path), key), value)
			}
		} else if value != nil {
			all[fmt.Sprint(path)] = value
		}
	}
	walk([]string{"spec"}, object["spec"])
	walk([]string{"status"}, object["status"])
	if labels, _, _ := unstructured.NestedMap(object, "metadata", "labels"); labels != nil {
		walk([]string{"metadata", "labels"}, labels)
	}
	return all
}

// apply has the field managers of an API server apply an object.
func (p *play) apply(manager, version string, wanted map[string]any, force bool) (*unstructured.Unstructured, error) {
	gvk := schema.FromAPIVersionAndKind(version, p.Name)
	managers, err := managedfields.NewDefaultCRDFieldManager(p.Types, converter{convert: p.Convert}, unstructuredscheme.NewUnstructuredDefaulter(),
		unstructuredscheme.NewUnstructuredCreator(), gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		return nil, err
	}
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(gvk)
	applied.SetName("web")
	for _, f := range p.Fields {
		value, has := wanted[f.Name]
		if !has {
			continue
		}
		for _, w := range f.Write(version, value) {
			if err := unstructured.SetNestedField(applied.Object, w.Value, w.Path...); err != nil {
				return nil, err
			}
		}
	}
	after, err := managers.Apply(p.convert(p.live, version), applied, manager, force)
	if err != nil {
		return nil, err
	}
	return after.(*unstructured.Unstructured), nil
}

// convert converts an object to a version.
func (p *play) convert(object *unstructured.Unstructured, version string) *unstructured.Unstructured {
	out, err := converter{convert: p.Convert}.ConvertToVersion(object.DeepCopy(), schema.FromAPIVersionAndKind(version, p.Name).GroupVersion())
	if err != nil {
		p.Fatal(err)
	}
	return out.(*unstructured.Unstructured)
}

// converter converts objects for field managers, which ask for nothing else of it.
type converter struct {
	runtime.ObjectConvertor
	convert func(object []byte, apiVersion string) ([]byte, error)
}

// ConvertToVersion converts an object.
func (c converter) ConvertToVersion(in runtime.Object, version runtime.GroupVersioner) (runtime.Object, error) {
	data, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if data, err = c.convert(data, version.(schema.GroupVersion).String()); err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(data)
}
