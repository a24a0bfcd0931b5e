// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// operation is one step of a JSON patch: op, path and, except for "remove", value.
type operation map[string]any

// diff appends the steps that turn one JSON tree into another of the same
// kind, in the order in which they must be done. Keys come sorted, so that the
// same change always gives the same patch.
func diff(steps []operation, path string, from, to any) []operation {
	if reflect.DeepEqual(from, to) {
		return steps
	}
	fromMap, ok1 := from.(map[string]any)
	toMap, ok2 := to.(map[string]any)
	if ok1 && ok2 {
		return diffMap(steps, path, fromMap, toMap)
	}
	fromList, ok1 := from.([]any)
	toList, ok2 := to.([]any)
	if ok1 && ok2 && len(fromList) == len(toList) {
		for i := range toList {
			steps = diff(steps, path+"/"+strconv.Itoa(i), fromList[i], toList[i])
		}
		return steps
	}
	return append(steps, operation{"op": "replace", "path": path, "value": to})
}

func diffMap(steps []operation, path string, from, to map[string]any) []operation {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if _, stays := to[key]; !stays {
			steps = append(steps, operation{"op": "remove", "path": path + "/" + escape(key)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		old, wasThere := from[key]
		if !wasThere {
			steps = append(steps, operation{"op": "add", "path": path + "/" + escape(key), "value": to[key]})
			continue
		}
		steps = diff(steps, path+"/"+escape(key), old, to[key])
	}
	return steps
}

// escape writes a key as a part of a JSON pointer (RFC 6901).
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
