// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"bytes"
	"fmt"
	"math/rand"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// random fills values with little variety, so that parts of two of them are often equal.
type random struct {
	*rand.Rand
	scarce int // one of how many fields is set
}

var zone = time.FixedZone("a", 3600)

func (r random) fill(v reflect.Value, depth int) {
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
				r.fill(v.Field(i), depth+1)
			}
		}
	case reflect.String:
		v.SetString(string(bytes.Clone([]byte([]string{"", "a", "b", "another", "annother"}[r.Intn(5)]))))
	case reflect.Bool:
		v.SetBool(r.Intn(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Intn(3)))
	case reflect.Uint8:
		v.SetUint(uint64(r.Intn(3)))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(v.Elem(), depth+1)
	case reflect.Slice:
		n := r.Intn(3)
		v.Set(reflect.MakeSlice(v.Type(), n, n+r.Intn(3)))
		for i := range n {
			r.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.Intn(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.fill(key, depth+1)
			r.fill(value, depth+1)
			v.SetMapIndex(key, value)
		}
	}
}

// change changes some fields of a value in place, whatever has it too.
func (r random) change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.change(v.Field(i))
			}
		}
		return
	case reflect.Pointer:
		if !v.IsNil() {
			r.change(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.change(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			r.change(value)
			v.SetMapIndex(key, value)
		}
	}
	if r.Intn(r.scarce) == 0 && v.Kind() != reflect.Interface {
		r.fill(v, 0)
	}
}

// slack returns a slice in a value that ends behind its last element, if there is one.
func slack(v reflect.Value, at string) string {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				if found := slack(v.Field(i), at+"."+f.Name); found != "" {
					return found
				}
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return slack(v.Elem(), at)
		}
	case reflect.Slice:
		if v.Len() < v.Cap() {
			return at
		}
		for i := range v.Len() {
			if found := slack(v.Index(i), fmt.Sprintf("%s[%d]", at, i)); found != "" {
				return found
			}
		}
	case reflect.Map:
		for all := v.MapRange(); all.Next(); {
			if found := slack(all.Value(), at+"[]"); found != "" {
				return found
			}
		}
	}
	return ""
}
