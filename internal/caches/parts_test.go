// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// random fills values with little variety, so that parts of two of them are often equal.
type random struct {
	*rand.Rand
	scarce int // one of how many fields is set
}

var zone = time.FixedZone("a", 3600)

func (r random) fill(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse([]string{"1", "2", "1000m", "0.1", "123456789012345678901234567890"}[r.Intn(5)])))
		return
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf([]time.Time{{}, time.Unix(1, 0), time.Unix(1, 0).UTC(), time.Unix(1, 0).In(zone), time.Unix(2, 5)}[r.Intn(5)]))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && r.Intn(r.scarce) == 0 {
				r.fill(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b", "another", "annother"}[r.Intn(5)])
	case reflect.Bool:
		v.SetBool(r.Intn(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Intn(3)))
	case reflect.Uint8:
		v.SetUint(uint64(r.Intn(3)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(v.Elem())
	case reflect.Slice:
		n := r.Intn(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n+r.Intn(3)))
		for i := range n {
			r.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.Intn(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.fill(key)
			r.fill(value)
			v.SetMapIndex(key, value)
		}
	}
}

// walk visits what a value has in its exported fields, behind pointers, in slices and in maps. Then it visits what is around that, but for structs.
func walk(v reflect.Value, at string, visit func(v reflect.Value, at string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walk(v.Field(i), at+"."+f.Name, visit)
			}
		}
		return
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), at, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", at, i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			walk(value, at+"[]", visit)
			v.SetMapIndex(key, value)
		}
	}
	visit(v, at)
}

// change changes some fields of a value in place, whatever has it too.
func (r random) change(v reflect.Value) {
	walk(v, "", func(v reflect.Value, _ string) {
		if r.Intn(r.scarce) == 0 && v.Kind() != reflect.Interface {
			r.fill(v)
		}
	})
}

// slack returns a slice in a value that ends behind its last element, if there is one.
func slack(v reflect.Value) (found string) {
	walk(v, "", func(v reflect.Value, at string) {
		if v.Kind() == reflect.Slice && v.Len() < v.Cap() {
			found = at
		}
	})
	return found
}

// TestLayoutOfAll: a type that contains itself, and one with everything that fields can be.
func TestLayoutOfAll(t *testing.T) {
	type all struct {
		Small  int8
		Number int64
		Itself *all
		Many   []all
		Named  map[string][]all
		Any    any
		Call   func()
		Pair   [2]string
		hidden []string
		where  *time.Location
		Kinds  map[schema.GroupKind]*int
		Limit  *resource.Quantity
	}
	l := newLayout(reflect.TypeFor[all]())
	build := func() *all {
		n := 7
		inner := all{Number: 1, Pair: [2]string{"a", string([]byte("b"))}}
		return &all{Small: 1, Itself: &inner, Many: append(make([]all, 0, 5), inner), Named: map[string][]all{"x": append(make([]all, 0, 5), inner)},
			Kinds: map[schema.GroupKind]*int{{Kind: "Pod"}: &n}, Limit: ptr.To(resource.MustParse("1000m"))}
	}
	for name, c := range map[string]struct {
		edit func(*all)
		want bool
	}{
		"equal":         {func(*all) {}, true},
		"number":        {func(a *all) { a.Number++ }, false},
		"small":         {func(a *all) { a.Small++ }, false},
		"pointer":       {func(a *all) { a.Itself = nil }, false},
		"behind":        {func(a *all) { a.Itself.Pair[1] = "c" }, false},
		"element":       {func(a *all) { a.Many[0].Number++ }, false},
		"empty":         {func(a *all) { a.Itself.Many = []all{} }, false},
		"longer":        {func(a *all) { a.Many = append(a.Many, all{}) }, false},
		"value":         {func(a *all) { a.Named["x"][0].Number++ }, false},
		"another key":   {func(a *all) { a.Named = map[string][]all{"y": a.Named["x"]} }, false},
		"empty map":     {func(a *all) { a.Itself.Named = map[string][]all{} }, false},
		"behind in map": {func(a *all) { *a.Kinds[schema.GroupKind{Kind: "Pod"}] = 8 }, false},
		"interface":     {func(a *all) { a.Any = 1 }, false},
		"hidden":        {func(a *all) { a.hidden = []string{"a"} }, false},
		"quantity":      {func(a *all) { *a.Limit = resource.MustParse("2") }, false},
		"its spelling":  {func(a *all) { *a.Limit = resource.MustParse("1") }, false},
		"zone":          {func(a *all) { a.where = time.FixedZone("a", 1) }, false},
	} {
		model, value := build(), build()
		l.settle(unsafe.Pointer(model))
		if found := slack(reflect.ValueOf(model).Elem()); found != "" {
			t.Errorf("%s: %s has room behind its last element", name, found)
		}
		c.edit(value)
		if got := l.merge(unsafe.Pointer(value), unsafe.Pointer(model)); got != c.want {
			t.Errorf("%s: equal %t, want %t", name, got, c.want)
		}
		want, other := build(), build()
		c.edit(want)
		want.where = value.where
		read := func(a *all) string { return a.Limit.String() } // which writes to a quantity that was not read yet
		if before := *model.Limit; read(model) != "1" || *model.Limit != before {
			t.Errorf("%s: who reads a quantity writes to it", name)
		}
		_, _ = read(want), read(other)
		if !reflect.DeepEqual(want, value) || !reflect.DeepEqual(model, other) {
			t.Errorf("%s: merging changed the value or the other one", name)
		}
		if l.settle(unsafe.Pointer(model)) {
			t.Errorf("%s: what was settled is changed again", name)
		}
	}
}
