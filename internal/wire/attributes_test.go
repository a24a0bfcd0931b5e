// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// notes of a contract say of a field what its attributes do not.
var notes = []string{"core", "inlineCore", "anyOf"}

// compareAttributes compares those of one field.
func (c *comparison) compareAttributes(at string, want, found attributes) {
	_, core := want["core"]
	want, found = stated(want), stated(found)
	every := maps.Clone(want)
	maps.Copy(every, found)
	for _, attribute := range slices.Sorted(maps.Keys(every)) {
		if core && want[attribute] == nil && isOpen(attribute) {
			continue
		}
		c.compare(at, attribute, want[attribute], found[attribute])
	}
}

// stated returns the attributes that say something: false is the default of all.
func stated(field attributes) attributes {
	field = maps.Clone(field)
	maps.DeleteFunc(field, func(attribute string, value any) bool {
		return value == nil || value == false || slices.Contains(notes, attribute)
	})
	return field
}

// isOpen tells which attributes of a type of Kubernetes a CRD may have beyond its contract. With them the CRD spells
// the type out, or leaves it open.
func isOpen(attribute string) bool {
	switch attribute {
	case "type", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-map-type":
		return true
	}
	return strings.HasPrefix(attribute, "x-kubernetes-list-")
}

func TestCompareAttributes(t *testing.T) {
	for _, test := range []struct {
		name        string
		want, found attributes
		differences []string
	}{
		{"the same", attributes{"type": "array", "default": []any{"a"}}, attributes{"type": "array", "default": []any{"a"}}, nil},
		{"another default", attributes{"default": 1.0}, attributes{"default": 2.0}, []string{"at: default: want 1, found 2"}},
		{"a default less", attributes{"default": "a"}, attributes{}, []string{`at: default: want "a", found none`}},
		{"zero is not none", attributes{"minLength": 0.0}, attributes{}, []string{"at: minLength: want 0, found none"}},
		{"false is none", attributes{"nullable": false}, attributes{"required": false}, nil},
		{"several", attributes{"type": "string"}, attributes{"type": "integer", "format": "int32"},
			[]string{`at: format: want none, found "int32"`, `at: type: want "string", found "integer"`}},
		{"notes", attributes{"anyOf": []any{"integer", "string"}, "inlineCore": "corev1.Container"}, attributes{}, nil},
		{"a type of Kubernetes that is spelled out", attributes{"core": "corev1.X"}, attributes{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}}, nil},
		{"one that is left open", attributes{"core": "corev1.X"}, attributes{"x-kubernetes-preserve-unknown-fields": true}, nil},
		{"one that the contract leaves open", attributes{"core": "corev1.X", "x-kubernetes-preserve-unknown-fields": true}, attributes{"type": "object"},
			[]string{"at: x-kubernetes-preserve-unknown-fields: want true, found none"}},
		{"one with another type", attributes{"core": "corev1.X", "type": "object"}, attributes{"type": "array"}, []string{`at: type: want "object", found "array"`}},
		{"one that is required", attributes{"core": "corev1.X"}, attributes{"required": true}, []string{"at: required: want none, found true"}},
		{"one that is no type of Kubernetes", attributes{}, attributes{"x-kubernetes-map-type": "atomic"}, []string{`at: x-kubernetes-map-type: want none, found "atomic"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c comparison
			c.compareAttributes("at", test.want, test.found)
			if !slices.Equal(c.differences, test.differences) {
				t.Errorf("differences %q, want %q", c.differences, test.differences)
			}
		})
	}
}
