// SPDX-License-Identifier: Apache-2.0

package verdicts

import (
	"reflect"
	"strings"
)

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
