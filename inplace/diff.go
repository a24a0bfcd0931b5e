// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	opAdd     = "add"
	opRemove  = "remove"
	opReplace = "replace"
)

// operation is one operation of an RFC 6902 patch, without its value.
type operation struct{ op, path string }

// escapePointer writes a key as a token of a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// diff appends to ops the operations that lead from one decoded JSON value to
// another. Objects are compared by key and lists by index, never by shifting
// elements. Keys are visited in sorted order, so the result is always the same.
func diff(ops []operation, path string, from, to any) []operation {
	switch a := from.(type) {
	case map[string]any:
		if b, ok := to.(map[string]any); ok {
			return diffObjects(ops, path, a, b)
		}
	case []any:
		if b, ok := to.([]any); ok {
			return diffLists(ops, path, a, b)
		}
	default:
		if scalar(to) && from == to {
			return ops
		}
	}
	return append(ops, operation{opReplace, path})
}

func scalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func diffObjects(ops []operation, path string, from, to map[string]any) []operation {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		below := path + "/" + escapePointer(key)
		if value, ok := to[key]; ok {
			ops = diff(ops, below, from[key], value)
		} else {
			ops = append(ops, operation{opRemove, below})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		if _, ok := from[key]; !ok {
			ops = append(ops, operation{opAdd, path + "/" + escapePointer(key)})
		}
	}
	return ops
}

func diffLists(ops []operation, path string, from, to []any) []operation {
	for i := range max(len(from), len(to)) {
		below := path + "/" + strconv.Itoa(i)
		switch {
		case i >= len(to):
			ops = append(ops, operation{opRemove, below})
		case i >= len(from):
			ops = append(ops, operation{opAdd, below})
		default:
			ops = diff(ops, below, from[i], to[i])
		}
	}
	return ops
}
