// SPDX-License-Identifier: Apache-2.0

// Package editing checks that the users of random histories edit every field of the spec of a kind. A field that no history
// edits is one whose changes no judge has seen. A field that is new fails the test until users edit it.
package editing

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/testing/conformance/verdicts"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// inline is how a container of Kubernetes that stands inline is called at the end of a path. Users have to edit each of its fields.
const inline = "Container"

var container = reflect.TypeFor[corev1.Container]()

// What is looked at of each history: so many seeds at most, and so many moves of the users of each. It ends with the seed after which no
// field is missing.
const seeds, moves = 6, 800

// Subject is how a kind is edited.
type Subject[T any] struct {
	// Create says what is wrong with a new object, and Update with a changed one, as admission does. An edit that it refuses
	// counts for nothing.
	Create func(*T) field.ErrorList
	Update func(object, old *T) field.ErrorList
	// Immutable are the fields that admission does not let users change, or set at all, by their paths of [verdicts.Paths]. The
	// value is a change of the spec, as a JSON merge patch. A path stands for those below it too.
	Immutable map[string]string
	// Elsewhere are the fields that no history of the kind edits, with the test of the package that does. It names each step of the
	// path, or what it calls and reads in the tests of the package does.
	Elsewhere map[string]string
	// Unedited are the fields that no history edits, nor a test elsewhere, with the reason.
	Unedited map[string]string
}

// Check checks that users edit each field of the spec of a kind in one of its histories, unless it is immutable. It also checks that
// admission refuses to change what is said to be.
func Check[T any](t *testing.T, kind Subject[T], histories ...*simulation.Subject) {
	t.Helper()
	missing := kind.fields(t)
	for _, w := range histories {
		kind.checkImmutable(t, w.Create, missing)
	}
	for seed := uint64(0); seed < seeds && !kind.complete(missing); seed++ {
		for _, w := range histories {
			for _, e := range simulation.Edits(t, w, seed, moves) {
				kind.look(t, e, missing)
			}
		}
	}
	kind.report(t, missing)
}

// CheckEdits is Check for histories of another making. Here create returns an object of a seed, and edits are what users made of
// those that there were.
func CheckEdits[T any](t *testing.T, kind Subject[T], create func(*rand.Rand) simulation.Object, edits []simulation.Edited) {
	t.Helper()
	missing := kind.fields(t)
	kind.checkImmutable(t, create, missing)
	for _, e := range edits {
		kind.look(t, e, missing)
	}
	kind.report(t, missing)
}

// fields are those that histories have to edit.
func (k *Subject[T]) fields(t *testing.T) map[string]bool {
	t.Helper()
	spec, found := reflect.TypeFor[T]().FieldByName("Spec")
	if !found {
		t.Fatal("the type has no Spec")
	}
	missing := map[string]bool{}
	for _, path := range verdicts.Paths(spec.Type) {
		if around, is := strings.CutSuffix(path, inline); is {
			for i := range container.NumField() {
				name, _, _ := strings.Cut(container.Field(i).Tag.Get("json"), ",")
				missing[around+name] = true
			}
			continue
		}
		missing[path] = true
	}
	files, err := testFiles()
	if err != nil {
		t.Fatal(err)
	}
	for path, test := range k.Elsewhere {
		if !missing[path] {
			t.Errorf("spec.%s is in the table, and no field", path)
		}
		if err := named(path, test, files...); err != nil {
			t.Errorf("spec.%s is edited elsewhere: %v", path, err)
		}
		delete(missing, path)
	}
	for path := range k.Unedited {
		if !missing[path] {
			t.Errorf("spec.%s is in the table of what is not edited, and no field", path)
		}
	}
	return missing
}

// complete tells whether nothing is missing that users of histories are to edit.
func (k *Subject[T]) complete(missing map[string]bool) bool {
	return !slices.ContainsFunc(slices.Collect(maps.Keys(missing)), func(path string) bool { return !k.immutable(path) && k.Unedited[path] == "" })
}

// report tells what is missing.
func (k *Subject[T]) report(t *testing.T, missing map[string]bool) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		if !k.immutable(path) && k.Unedited[path] == "" {
			t.Errorf("no history edits spec.%s in a way that admission accepts: add a move of users, or say why it is immutable", path)
		}
	}
}

// look takes what an edit changes from what is missing.
func (k *Subject[T]) look(t *testing.T, e simulation.Edited, missing map[string]bool) {
	t.Helper()
	before, after := specOf(t, e.Before), specOf(t, e.After)
	if reflect.DeepEqual(before, after) || len(k.Update(any(e.After).(*T), any(e.Before).(*T))) > 0 {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(missing)) {
		steps := strings.Split(path, ".")
		switch {
		case !edited(before, after, steps):
		case k.immutable(path):
			t.Errorf("spec.%s is said to be immutable, and admission accepts an edit of it", path)
			fallthrough
		default:
			delete(missing, path)
		}
		if k.Unedited[path] != "" && !missing[path] {
			t.Errorf("spec.%s is said not to be edited, and is", path)
		}
	}
}

// immutable tells whether a path, or what it is in, is said to be immutable.
func (k *Subject[T]) immutable(path string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(k.Immutable)), func(of string) bool { return within(path, of) })
}

// within tells whether a path is another one, or below it.
func within(path, of string) bool {
	rest, below := strings.CutPrefix(path, of)
	return below && (rest == "" || strings.ContainsAny(rest[:1], ".[{"))
}

// checkImmutable has admission refuse the changes of what is immutable.
func (k *Subject[T]) checkImmutable(t *testing.T, create func(*rand.Rand) simulation.Object, fields map[string]bool) {
	t.Helper()
	for path, patch := range k.Immutable {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(f string) bool { return within(f, path) }) {
			t.Errorf("spec.%s is said to be immutable, and no field", path)
			continue
		}
		before, after := k.changed(t, create, path, patch)
		if before == nil {
			t.Errorf("%s does not change spec.%s of any object that admission accepts", patch, path)
			continue
		}
		errs := k.Update(any(after).(*T), any(before).(*T))
		if !slices.ContainsFunc(errs, func(err *field.Error) bool {
			return within(anyElement(err), "spec."+path) || within("spec."+path, anyElement(err))
		}) {
			t.Errorf("spec.%s is said to be immutable, and of %s admission says %v", path, patch, errs)
		}
	}
}

var places = regexp.MustCompile(`\[[0-9]+\]`)

// anyElement is the path of what is wrong, of whatever element of a list.
func anyElement(err *field.Error) string { return places.ReplaceAllString(err.Field, "[]") }

// changed returns an object of the histories that admission accepts, and what a patch that changes a field makes of it.
// It returns nil if there is no such object.
func (k *Subject[T]) changed(t *testing.T, create func(*rand.Rand) simulation.Object, path, patch string) (before, after simulation.Object) {
	t.Helper()
	steps := strings.Split(path, ".")
	for seed := range uint64(100) {
		object := create(rand.New(rand.NewPCG(seed, 0)))
		object.SetName(simulation.Web.Name)
		object.SetNamespace(simulation.Web.Namespace)
		changed := object.DeepCopyObject().(simulation.Object)
		simulation.Merge(changed, `{"spec":`+patch+`}`)
		if len(k.Create(any(object).(*T))) == 0 && edited(specOf(t, object), specOf(t, changed), steps) {
			return object, changed
		}
	}
	return nil, nil
}

// specOf is the spec of an object as it stands on the wire.
func specOf(t *testing.T, object simulation.Object) any {
	t.Helper()
	var tree map[string]any
	data, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree["spec"]
}

// edited tells whether what is at a path differs. In a list it must differ in an element that is there before and after. The name of
// an element tells, or else its place in a list that is as long as it was. Names differ if others are there.
func edited(before, after any, steps []string) bool {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	if len(steps) == 0 || was == nil || is == nil {
		return !reflect.DeepEqual(values(before, steps), values(after, steps))
	}
	name, isList := strings.CutSuffix(steps[0], "[]")
	if !isList || len(steps) == 2 && steps[1] == "name" {
		if _, found := was[name]; !found || isList || strings.HasSuffix(name, "{}") {
			return !reflect.DeepEqual(values(before, steps), values(after, steps))
		}
		return edited(was[name], is[name], steps[1:])
	}
	olds, _ := was[name].([]any)
	news, _ := is[name].([]any)
	for i, element := range news {
		if old := sameElement(olds, element, i, len(olds) == len(news)); old != nil && edited(old, element, steps[1:]) {
			return true
		}
	}
	return false
}

// sameElement is the element of a list as it was before; nil if it was not there.
func sameElement(olds []any, element any, at int, sameLength bool) any {
	object, _ := element.(map[string]any)
	name, named := object["name"].(string)
	if !named {
		if sameLength {
			return olds[at]
		}
		return nil
	}
	for _, old := range olds {
		if of, _ := old.(map[string]any); of["name"] == name {
			return old
		}
	}
	return nil
}

// values are those that there are at a path, in their order. A step that ends with [] goes into all elements of a list, one
// with {} into all entries of a map, by their keys. The name of a type that stands inline is all that is around it.
func values(tree any, steps []string) (all []any) {
	object, _ := tree.(map[string]any)
	if len(steps) == 0 || object == nil {
		return []any{tree}
	}
	name, isList := strings.CutSuffix(steps[0], "[]")
	name, isMap := strings.CutSuffix(name, "{}")
	below, found := object[name]
	switch list, _ := below.([]any); {
	case !found && name != "" && strings.ToUpper(name[:1]) == name[:1]:
		return []any{tree}
	case !found || below == nil:
	case isList:
		for _, element := range list {
			all = append(all, values(element, steps[1:])...)
		}
	case isMap:
		entries, _ := below.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			all = append(all, values(entries[key], steps[1:])...)
		}
	default:
		return values(below, steps[1:])
	}
	return all
}
