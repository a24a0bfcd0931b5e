// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/testing/readers"
)

// Options says which options a package requires. [CheckOptions] checks it.
type Options[O any] struct {
	// Good are all options that New requires.
	Good O
	// Required names their fields, RequiredByNew those that NewReconciler does not need.
	Required, RequiredByNew string
	// MayBeNegative names numbers that may be, "Timing.Delay" for example.
	MayBeNegative string

	New, NewReconciler func(O) error
}

// CheckOptions checks what New and NewReconciler say of options that cannot
// work: they name the option, and what is wrong with it. Every number is found,
// those in structs too: none may be negative.
func CheckOptions[O any](t *testing.T, k Options[O]) {
	t.Helper()
	prefix := path.Base(reflect.TypeFor[O]().PkgPath()) + ": Options."
	newReconciler := func(o O) error {
		reflect.ValueOf(&o).Elem().FieldByName("Reader").Set(reflect.ValueOf(readers.Memory{}))
		return k.NewReconciler(o)
	}
	makes := []func(O) error{k.New, newReconciler}
	good := k.Good
	refuses := func(makes []func(O) error, o O, wanted ...string) {
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
	for _, required := range []struct {
		fields string
		by     []func(O) error
	}{{k.Required, makes}, {k.RequiredByNew, makes[:1]}} {
		var all []string
		for name := range strings.FieldsSeq(required.fields) {
			missing := good
			reflect.ValueOf(&missing).Elem().FieldByName(name).SetZero()
			refuses(required.by, missing, prefix+name+" is ")
			all = append(all, prefix+name+" is ")
		}
		var nothing O
		refuses(required.by, nothing, all...)
	}
	for _, at := range numbers(reflect.TypeFor[O](), nil, "") {
		negative := good
		reflect.ValueOf(&negative).Elem().FieldByIndex(at.index).SetInt(-1)
		if !slices.Contains(strings.Fields(k.MayBeNegative), at.name) {
			refuses(makes, negative, prefix+at.name+" is negative")
		}
	}
	ahead := good
	if features := reflect.ValueOf(&ahead).Elem().FieldByName("Features"); features.IsValid() && features.FieldByName("PreDownload").IsValid() {
		features.FieldByName("PreDownload").SetBool(true)
		refuses(makes, ahead, prefix+"Jobs is nil")
	}
	if field := reflect.ValueOf(&good).Elem().FieldByName("Kubernetes"); field.IsValid() {
		faked := k.Good
		reflect.ValueOf(&faked).Elem().FieldByName("Kubernetes").Set(reflect.ValueOf(restless{}))
		if err := k.New(faked); err != nil && !strings.Contains(err.Error(), "workloads/fakecluster") {
			t.Errorf("error %v, want one that says what to use in place of a fake clientset", err)
		}
	}
	if err := k.NewReconciler(k.Good); err == nil || !strings.Contains(err.Error(), prefix+"Reader is nil") {
		t.Errorf("a Reconciler without Reader: error %v", err)
	}
}

// restless is a clientset without a REST client, as the fake one of client-go, with
// which every test binary would be a third larger.
type restless struct{ kubernetes.Interface }

func (restless) CoreV1() corev1.CoreV1Interface { return corev1.New((*rest.RESTClient)(nil)) }

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
		case f.Anonymous:
			found = append(found, numbers(f.Type, at, prefix)...)
		case f.Type.Kind() == reflect.Struct:
			found = append(found, numbers(f.Type, at, prefix+f.Name+".")...)
		case f.Type.Kind() >= reflect.Int && f.Type.Kind() <= reflect.Int64:
			found = append(found, number{prefix + f.Name, at})
		}
	}
	return found
}
