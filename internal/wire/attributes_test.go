// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"maps"
	"slices"
	"strings"
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
