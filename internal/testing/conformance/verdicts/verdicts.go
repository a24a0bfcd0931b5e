// SPDX-License-Identifier: Apache-2.0

// Package verdicts plays the scripts of verdicts. They say, for every field of the spec of a kind, which values admission takes.
// It refuses the others, because they never do anything or do harm. A field that is new fails the test until the script has it.
package verdicts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Subject is how a kind is validated.
type Subject[T any] struct {
	// Valid is an object that is right, in YAML; verdicts change its spec.
	Valid string
	// Create says what is wrong with a new object, and Update with a changed one.
	Create func(*T) field.ErrorList
	Update func(object, old *T) field.ErrorList
	// Touch is a change of the spec that is right whatever else the spec holds, as a JSON merge patch. A stored value that stays
	// must not keep a user from it. Touch is empty if a spec cannot be changed.
	Touch string
	// Unasked says that the webhook does not ask Update about an unchanged spec, which its own tests hold.
	Unasked bool
	// Immutable says that an update of the spec is refused anyway.
	Immutable bool
}

// Check checks that each field of the spec has a place in a script, and shows what admission says of its values.
//
//	works             "field: why": every value of the field works, or the values that follow are all that does not
//	verdict [stays]   "field: value", with the value in JSON; and perhaps a line "with" and another change of the spec, as a
//	                  JSON merge patch. Shown is what is said of a new object, nothing if it is taken, and of an update to it
//	                  if that differs. If the value stays, a stored object that has it can still be changed otherwise
//
// Fields are those below spec: "updateStrategy.scatterStrategy[].key". Fields of types that are not podwright's own are part of
// the one that holds them.
func Check[T any](t *testing.T, script string, kind Subject[T]) {
	t.Helper()
	spec, found := reflect.TypeFor[T]().FieldByName("Spec")
	if !found {
		t.Fatal("the type has no Spec")
	}
	paths, said := Paths(spec.Type), map[string]bool{}
	datadriven.RunTest(t, script, func(t *testing.T, d *datadriven.TestData) string {
		path, value, _ := strings.Cut(d.Input, ": ")
		if !slices.Contains(paths, path) || value == "" {
			d.Fatalf(t, "spec.%s is no field, or nothing is said of it", path)
		}
		if said[path] = true; d.Cmd == "works" {
			return ""
		}
		value, with, _ := strings.Cut(value, "\nwith ")
		return kind.verdict(t, path, value, with, d.HasArg("stays"))
	})
	for _, path := range paths {
		if !said[path] {
			t.Errorf("spec.%s has no place in %s: say which values never do anything, or why there is none", path, script)
		}
	}
}

// verdict is what is said of a value of a field.
func (k *Subject[T]) verdict(t *testing.T, path, value, with string, stays bool) string {
	t.Helper()
	before, after := k.object(t, with, "", ""), k.object(t, with, path, value)
	created := texts(k.Create(after))
	out := created
	if !k.Immutable {
		if changed := texts(k.Update(after, before)); changed == "" && created != "" {
			out += "update: accepted\n"
		} else if changed != created {
			out += strings.ReplaceAll("\n"+changed, "\n", "\nupdate: ")[1:]
			out = strings.TrimSuffix(out, "update: ")
		}
	}
	if errs := k.Update(k.object(t, with, path, value), after); !k.Unasked && len(errs) > 0 {
		t.Errorf("update of nothing but metadata, with spec.%s %s: %v", path, value, errs)
	}
	if stays {
		both, err := jsonpatch.MergeMergePatches([]byte(cmp.Or(with, "{}")), []byte(cmp.Or(k.Touch, "{}")))
		if err != nil {
			t.Fatal(err)
		}
		if errs := k.Update(k.object(t, string(both), path, value), after); len(errs) > 0 {
			t.Errorf("update of another field, with spec.%s %s stored: %v", path, value, errs)
		}
	}
	return out
}

// texts are errors, one on a line.
func texts(errs field.ErrorList) string {
	var out strings.Builder
	for _, err := range errs {
		fmt.Fprintln(&out, err)
	}
	return out.String()
}

// object is the valid one with changes of its spec, at last the value of a field.
func (k *Subject[T]) object(t *testing.T, with, path, value string) *T {
	t.Helper()
	whole, err := yaml.YAMLToJSON([]byte(k.Valid))
	if err == nil {
		whole, err = jsonpatch.MergePatch(whole, []byte(`{"spec":`+cmp.Or(with, "{}")+`}`))
	}
	if err != nil {
		t.Fatalf("%s: %v", with, err)
	}
	var tree struct {
		Metadata json.RawMessage `json:"metadata,omitempty"`
		Spec     map[string]any  `json:"spec"`
	}
	decode(t, string(whole), &tree)
	if path != "" {
		var v any
		decode(t, value, &v)
		set(tree.Spec, strings.Split(path, "."), v)
	}
	data, err := json.Marshal(tree)
	object := new(T)
	if err == nil {
		err = json.Unmarshal(data, object)
	}
	if err != nil {
		t.Fatalf("%s = %s: %v", path, value, err)
	}
	return object
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber() // not all of int64 is a float64
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// set sets a field. A step that ends with [] goes into the first element of a list, one with {} into the entry "a" of a map. set
// creates them if they are missing.
func set(into map[string]any, path []string, value any) {
	name, isList := strings.CutSuffix(path[0], "[]")
	name, isMap := strings.CutSuffix(name, "{}")
	if len(path) == 1 {
		into[name] = value
		return
	}
	below := map[string]any{}
	switch there := into[name].(type) {
	case map[string]any:
		below = there
	case []any:
		below, _ = there[0].(map[string]any)
	}
	switch list, _ := into[name].([]any); {
	case isList && list == nil:
		into[name] = []any{below}
	case isMap:
		all := below
		if below, _ = all["a"].(map[string]any); below == nil {
			below = map[string]any{}
		}
		all["a"], into[name] = below, all
	case !isList:
		into[name] = below
	}
	set(below, path[1:], value)
}

// own is the begin of the import paths of podwright's types.
const own = "github.com/podwright/podwright/"

// Paths lists the fields of a type, and those of podwright's own types below it. A pod template, a selector and other types of
// Kubernetes are one field each, and so is the spec of another kind.
func Paths(of reflect.Type) []string { return paths(of, "") }

func paths(of reflect.Type, prefix string) (all []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			if isOwn(f.Type) {
				all = append(all, paths(f.Type, prefix)...)
			} else {
				all = append(all, prefix+f.Name) // a container, with all its fields
			}
			continue
		}
		path, below := prefix+name, f.Type
		for below.Kind() == reflect.Pointer || below.Kind() == reflect.Slice || below.Kind() == reflect.Map {
			switch below.Kind() {
			case reflect.Slice:
				path += "[]"
			case reflect.Map:
				path += "{}"
			}
			below = below.Elem()
		}
		if !isOwn(below) || strings.HasSuffix(below.Name(), "Spec") && name == "spec" {
			all = append(all, prefix+name)
			continue
		}
		if path != prefix+name {
			all = append(all, prefix+name) // the list itself: how long it is, what is there twice
		}
		all = append(all, paths(below, path+".")...)
	}
	return all
}

// isOwn tells whether a type is a struct of podwright's.
func isOwn(of reflect.Type) bool {
	return of.Kind() == reflect.Struct && strings.HasPrefix(of.PkgPath(), own)
}
