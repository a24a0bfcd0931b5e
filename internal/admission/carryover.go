// SPDX-License-Identifier: Apache-2.0

package admission

import "reflect"

// carryOver does to raw what was done between before and after, and returns
// the result; all four are JSON trees. Before is what the Go types make of raw:
// it lacks fields that they do not know and has zero values that were never
// written. What is the same before and after is left as it stands in raw.
//
// No argument is changed, but the result shares parts with them.
func carryOver(raw, before, after any) any {
	if reflect.DeepEqual(before, after) {
		return raw
	}
	switch after := after.(type) {
	case map[string]any:
		rawMap, ok1 := raw.(map[string]any)
		beforeMap, ok2 := before.(map[string]any)
		if ok1 && ok2 {
			return carryOverMap(rawMap, beforeMap, after)
		}
	case []any:
		rawList, ok1 := raw.([]any)
		beforeList, ok2 := before.([]any)
		if ok1 && ok2 && len(rawList) == len(beforeList) {
			return carryOverList(rawList, beforeList, after)
		}
	}
	return after
}

func carryOverMap(raw, before, after map[string]any) map[string]any {
	out := make(map[string]any, len(raw)+len(after))
	for key, value := range raw {
		_, wasThere := before[key]
		if _, isThere := after[key]; isThere || !wasThere {
			out[key] = value
		}
	}
	for key, value := range after {
		old, wasThere := before[key]
		if wasThere && reflect.DeepEqual(old, value) {
			continue // unchanged from raw, be it absent
		}
		out[key] = carryOver(raw[key], old, value)
	}
	return out
}

// carryOverList gives every element of after the unknown fields of the element
// that it was before.
func carryOverList(raw, before, after []any) []any {
	out := make([]any, len(after))
	used := make([]bool, len(before))
	for i, value := range after {
		out[i] = value
		if from := origin(before, used, value, i, len(after)); from >= 0 {
			used[from] = true
			out[i] = carryOver(raw[from], before[from], value)
		}
	}
	return out
}

// origin finds the element that an element of a changed list was before. It is the one of
// the same name. For one without a name it is an equal one, or, in a list of unchanged
// length, the one in the same place. It returns -1 for a new element.
func origin(before []any, used []bool, value any, index, length int) int {
	name := nameOf(value)
	for i, old := range before {
		if used[i] {
			continue
		}
		if name != "" && name == nameOf(old) || name == "" && reflect.DeepEqual(old, value) {
			return i
		}
	}
	if name == "" && length == len(before) && !used[index] && nameOf(before[index]) == "" {
		return index
	}
	return -1
}

// nameOf is the value of the field name of an object, "" without one.
func nameOf(value any) string {
	object, _ := value.(map[string]any)
	name, _ := object["name"].(string)
	return name
}
