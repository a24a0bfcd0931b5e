// SPDX-License-Identifier: Apache-2.0

package appliers

import "strings"

// Field is something that managers may want of an object.
type Field struct {
	// Name is what failures call it.
	Name string
	// Values are some of what it may be. Two that v1beta1 does not write alike are a dispute.
	Values []any
	// Write says what a manager writes in a version to have a value; nothing if the version cannot say it.
	Write func(version string, value any) []Write
}

// Write is a value at a place of an object.
type Write struct {
	Path  []string
	Value any
}

// Both is a field that both versions have, by its path with dots.
func Both(path string, values ...any) Field {
	return Twins(strings.Split(path, "."), strings.Split(path, "."), values...)
}

// Beta is a field that v1beta1 alone has.
func Beta(path string, values ...any) Field {
	return Twins(nil, strings.Split(path, "."), values...)
}

// Twins is a field that each version has at a path of its own, or not at all.
func Twins(alpha, beta []string, values ...any) Field {
	paths := map[string][]string{V1alpha1: alpha, V1beta1: beta}
	return Field{Name: strings.Join(beta, "."), Values: values, Write: func(version string, value any) []Write {
		if paths[version] == nil {
			return nil
		}
		return []Write{{paths[version], value}}
	}}
}
