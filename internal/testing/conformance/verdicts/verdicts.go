// SPDX-License-Identifier: Apache-2.0

// Package verdicts has the tables of fields and verdicts. They say, for every field of the spec of a kind, which values admission
// takes. It refuses the others, because they never do anything or do harm. A field that is new fails the test until the table has it.
package verdicts

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Subject is how a kind is validated.
type Subject[T any] struct {
	// Valid is an object that is right, in YAML; cases change its spec.
	Valid string
	// Create says what is wrong with a new object, and Update with a changed one.
	Create func(*T) field.ErrorList
	Update func(object, old *T) field.ErrorList
	// Touch is a change of the spec that is right whatever else the spec holds, as a JSON merge patch. A stored value with
	// [Case.Stays] must not keep a user from it. Touch is empty if a spec cannot be changed.
	Touch string
	// Unasked says that the webhook does not ask Update about an unchanged spec, which its own tests hold.
	Unasked bool
	// Immutable says that an update of the spec is refused anyway.
	Immutable bool
}

// Fields are the lines of a table, by the path of the field below spec: "updateStrategy.scatterStrategy[].key". Fields of types
// that are not podwright's own are part of the one that holds them.
type Fields map[string]Line

// Line is what is to be said of a field.
type Line struct {
	// Works says why every value of the field works, or that its cases are all that does not.
	Works string
	Cases []Case
}

// Case is a value of a field.
type Case struct {
	// Value is in JSON.
	Value string
	// Want is what is said of it: lines, each the begin of an error with its field; empty if it is accepted.
	Want string
	// With is another change of the spec, as a JSON merge patch.
	With string
	// Change is what is said of an update to it instead of Want, if that differs; "accepted" for nothing.
	Change string
	// Stays says that a stored object that has the value is not held up by it when something else changes.
	Stays bool
}

// accepted is the [Case.Change] of a value that an update may set.
const accepted = "accepted"

// Check checks that each field of the spec has a line in the table, and that admission says what it says.
func Check[T any](t *testing.T, kind Subject[T], table Fields) {
	t.Helper()
	spec, found := reflect.TypeFor[T]().FieldByName("Spec")
	if !found {
		t.Fatal("the type has no Spec")
	}
	paths := Paths(spec.Type)
	for _, path := range paths {
		if line, ok := table[path]; !ok || line.Works == "" && len(line.Cases) == 0 {
			t.Errorf("spec.%s has no line in the table: say which values never do anything, or why there is none", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(paths, path) {
			t.Errorf("spec.%s is in the table, and no field", path)
			continue
		}
		for _, c := range table[path].Cases {
			t.Run(path+" "+c.Value+" "+c.With, func(t *testing.T) { kind.check(t, path, c) })
		}
	}
}

func (k *Subject[T]) check(t *testing.T, path string, c Case) {
	before, after := k.object(t, c.With, "", ""), k.object(t, c.With, path, c.Value)
	expect(t, "create", c.Want, k.Create(after))
	if want := c.Want; !k.Immutable {
		if c.Change != "" {
			want = strings.TrimPrefix(c.Change, accepted)
		}
		expect(t, "update", want, k.Update(after, before))
	}
	if !k.Unasked {
		expect(t, "update of nothing but metadata", "", k.Update(k.object(t, c.With, path, c.Value), after))
	}
	if c.Stays {
		expect(t, "update of another field, with the value stored", "", k.Update(k.object(t, merged(t, c.With, k.Touch), path, c.Value), after))
	}
}

// expect compares errors with lines, each the begin of one.
func expect(t *testing.T, what, want string, got field.ErrorList) {
	t.Helper()
	var lines []string
	if want != "" {
		lines = strings.Split(want, "\n")
	}
	right := len(lines) == len(got)
	for i := range min(len(lines), len(got)) {
		right = right && strings.HasPrefix(got[i].Error(), lines[i])
	}
	if !right {
		t.Errorf("%s: got %v, want %q", what, got, want)
	}
}

// object is the valid one with changes of its spec, at last the value of a field.
func (k *Subject[T]) object(t *testing.T, with, path, value string) *T {
	t.Helper()
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(k.Valid), &tree); err != nil {
		t.Fatal(err)
	}
	spec, _ := tree["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	if with != "" {
		var patch map[string]any
		decode(t, with, &patch)
		merge(spec, patch)
	}
	if path != "" {
		var v any
		decode(t, value, &v)
		set(spec, strings.Split(path, "."), v)
	}
	tree["spec"] = spec
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

// merged is one merge patch after another.
func merged(t *testing.T, first, second string) string {
	t.Helper()
	both := map[string]any{}
	for _, text := range []string{first, second} {
		if text == "" {
			continue
		}
		var patch map[string]any
		decode(t, text, &patch)
		merge(both, patch)
	}
	data, err := json.Marshal(both)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// merge applies a JSON merge patch.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		below, isObject := value.(map[string]any)
		there, _ := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && there != nil:
			merge(there, below)
		default:
			into[key] = value
		}
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
