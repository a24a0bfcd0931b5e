// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"path"
	"reflect"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"
)

// Options checks what New and NewReconciler say of options that cannot work:
// they name the option, and what is wrong with it. The good options are all that
// are required by New; required names their fields. A Reader is required by
// NewReconciler. Every number is found, those in structs too: none may be negative.
func Options[O any, R any](t *testing.T, good O, required string, reader R, newController, newReconciler func(O) error) {
	t.Helper()
	makes := []func(O) error{newController, func(o O) error {
		reflect.ValueOf(&o).Elem().FieldByName("Reader").Set(reflect.ValueOf(&reader).Elem())
		return newReconciler(o)
	}}
	prefix := path.Base(reflect.TypeFor[O]().PkgPath()) + ": Options."
	refuses := func(o O, wanted ...string) {
		t.Helper()
		for _, make := range makes {
			err := make(o)
			for _, want := range wanted {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one that says %q", err, want)
				}
			}
		}
	}
	for _, make := range makes {
		if err := make(good); err != nil {
			t.Errorf("with all that is required: %v", err)
		}
	}
	var all []string
	for name := range strings.FieldsSeq(required) {
		missing := good
		reflect.ValueOf(&missing).Elem().FieldByName(name).SetZero()
		refuses(missing, prefix+name+" is ")
		all = append(all, prefix+name+" is ")
	}
	var nothing O
	refuses(nothing, all...)
	for _, at := range numbers(reflect.TypeFor[O](), nil, "") {
		negative := good
		reflect.ValueOf(&negative).Elem().FieldByIndex(at.index).SetInt(-1)
		refuses(negative, prefix+at.name+" is negative")
	}
	if field := reflect.ValueOf(&good).Elem().FieldByName("Kubernetes"); field.IsValid() {
		faked := good
		reflect.ValueOf(&faked).Elem().FieldByName("Kubernetes").Set(reflect.ValueOf(fake.NewClientset()))
		if err := newController(faked); err != nil && !strings.Contains(err.Error(), "workloads/fakecluster") {
			t.Errorf("error %v, want one that says what to use in place of a fake clientset", err)
		}
	}
	if err := newReconciler(good); err == nil || !strings.Contains(err.Error(), prefix+"Reader is nil") {
		t.Errorf("a Reconciler without Reader: error %v", err)
	}
}

// number is a field that holds a number.
type number struct {
	name  string
	index []int
}

func numbers(of reflect.Type, index []int, prefix string) (found []number) {
	for i := range of.NumField() {
		f := of.Field(i)
		at := append(append([]int{}, index...), i)
		switch {
		case f.Type.Kind() == reflect.Struct:
			found = append(found, numbers(f.Type, at, prefix+f.Name+".")...)
		case f.Type.Kind() >= reflect.Int && f.Type.Kind() <= reflect.Int64:
			found = append(found, number{prefix + f.Name, at})
		}
	}
	return found
}
