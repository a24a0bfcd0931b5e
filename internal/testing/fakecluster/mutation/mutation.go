// SPDX-License-Identifier: Apache-2.0

// Package mutation changes objects in every way there is, one field at a time,
// to find out what a function of them depends on.
package mutation

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Mutation changes one field of an object.
type Mutation struct {
	// Path names the field: ".Spec.Containers[].Image", ".ObjectMeta.Labels[app]".
	Path  string
	apply func(root reflect.Value)
}

// Apply makes the change in a copy of the object that was given to Of.
func (m *Mutation) Apply(object any) { m.apply(reflect.ValueOf(object)) }

// Of lists a change of every field that an object has or could have. It fills in absent structs. Lists and maps grow,
// shrink and change. The object is a pointer to a struct.
func Of(object any) []Mutation {
	var m mutator
	m.walk(reflect.ValueOf(object).Elem(), "", func(root reflect.Value) reflect.Value { return root.Elem() })
	return m.all
}

type mutator struct{ all []Mutation }

// locate finds the value to change in a copy of the object.
type locate func(root reflect.Value) reflect.Value

// set adds the mutation that gives a value to what is located.
func (m *mutator) set(path string, at locate, value any) {
	m.all = append(m.all, Mutation{path, func(root reflect.Value) {
		v := at(root)
		v.Set(reflect.ValueOf(value).Convert(v.Type()))
	}})
}

// words are the values that fields of some types take.
var words = map[reflect.Type][]string{
	reflect.TypeFor[corev1.PodPhase]():        {"", "Pending", "Running", "Succeeded", "Failed", "Unknown"},
	reflect.TypeFor[corev1.ConditionStatus](): {"", "True", "False", "Unknown"},
}

func (m *mutator) walk(v reflect.Value, path string, at locate) {
	switch v.Interface().(type) {
	case metav1.Time:
		m.set(path, at, metav1.Time{})
		m.set(path, at, metav1.NewTime(v.Interface().(metav1.Time).Add(-time.Hour)))
		m.set(path, at, metav1.NewTime(v.Interface().(metav1.Time).Add(time.Hour)))
		return
	case resource.Quantity:
		m.set(path, at, resource.MustParse("7"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		for _, word := range append([]string{v.String() + "x", ""}, words[v.Type()]...) {
			if word != v.String() {
				m.set(path, at, word)
			}
		}
	case reflect.Bool:
		m.set(path, at, !v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8:
		if v.CanInt() {
			m.set(path, at, v.Int()+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				m.walk(v.Field(i), path+"."+v.Type().Field(i).Name, func(root reflect.Value) reflect.Value { return at(root).Field(i) })
			}
		}
	case reflect.Pointer:
		m.pointer(v, path, at)
	case reflect.Slice:
		m.slice(v, path, at)
	case reflect.Map:
		m.mapping(v, path, at)
	}
}

func (m *mutator) pointer(v reflect.Value, path string, at locate) {
	fresh := reflect.New(v.Type().Elem()).Interface()
	m.set(path, at, fresh)
	inside := v.Elem()
	if v.IsNil() {
		inside = reflect.ValueOf(fresh).Elem()
	} else {
		m.set(path, at, reflect.Zero(v.Type()).Interface())
	}
	m.walk(inside, path, func(root reflect.Value) reflect.Value {
		p := at(root)
		if p.IsNil() {
			p.Set(reflect.New(p.Type().Elem()))
		}
		return p.Elem()
	})
}

func (m *mutator) slice(v reflect.Value, path string, at locate) {
	grow := func(root reflect.Value) reflect.Value {
		s := at(root)
		s.Set(reflect.Append(s, reflect.Zero(s.Type().Elem())))
		return s.Index(s.Len() - 1)
	}
	m.all = append(m.all, Mutation{path, func(root reflect.Value) { grow(root) }})
	if v.Len() == 0 {
		m.walk(reflect.Zero(v.Type().Elem()), path+"[]", grow)
	}
	for i := range v.Len() {
		m.all = append(m.all, Mutation{path, func(root reflect.Value) {
			s := at(root)
			s.Set(reflect.AppendSlice(s.Slice(0, i), s.Slice(i+1, s.Len())))
		}})
		m.walk(v.Index(i), path+"[]", func(root reflect.Value) reflect.Value { return at(root).Index(i) })
	}
}

// mapping changes maps by string; the values of other maps are replaced by zero.
func (m *mutator) mapping(v reflect.Value, path string, at locate) {
	put := func(key, value reflect.Value) {
		m.all = append(m.all, Mutation{fmt.Sprintf("%s[%s]", path, key), func(root reflect.Value) {
			mp := at(root)
			if mp.IsNil() {
				mp.Set(reflect.MakeMap(mp.Type()))
			}
			mp.SetMapIndex(key, value)
		}})
	}
	zero := reflect.Zero(v.Type().Elem())
	put(reflect.ValueOf("new").Convert(v.Type().Key()), zero)
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		put(key, reflect.Value{}) // deletes it
		if zero.Kind() == reflect.String {
			put(key, reflect.ValueOf(v.MapIndex(key).String()+"x").Convert(zero.Type()))
		} else {
			put(key, zero)
		}
	}
}
