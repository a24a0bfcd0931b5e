// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// differences lists in what CRDs are not as contracts promise. Of a place that is missing, those below it are not listed.
func differences(promised, found promises) (all []string) {
	missing := "\n"
	for _, place := range slices.Sorted(maps.Keys(promised)) {
		if strings.HasPrefix(place, missing) {
			continue
		}
		want, is := stated(promised[place]), stated(found[place])
		if found[place] == nil {
			missing = place + " "
			all = append(all, fmt.Sprintf("%s: want %s, found none", place, show(want)))
			continue
		}
		every := maps.Clone(want)
		maps.Copy(every, is)
		for _, attribute := range slices.Sorted(maps.Keys(every)) {
			open := promised[place]["core"] != nil && want[attribute] == nil && isOpen(attribute)
			if !open && !reflect.DeepEqual(want[attribute], is[attribute]) {
				all = append(all, fmt.Sprintf("%s: %s: want %s, found %s", place, attribute, show(want[attribute]), show(is[attribute])))
			}
		}
	}
	return all
}

// notes of a contract say of a field what its attributes do not.
var notes = []string{"core", "inlineCore", "anyOf"}

// stated returns the attributes that say something: false is the default of all, and no list is as good as an empty one.
func stated(at attributes) attributes {
	at = maps.Clone(at)
	maps.DeleteFunc(at, func(attribute string, value any) bool {
		list, isList := value.([]any)
		return value == nil || value == false || isList && len(list) == 0 || slices.Contains(notes, attribute)
	})
	return at
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

func show(value any) string {
	data, err := json.Marshal(value)
	switch {
	case err != nil:
		return fmt.Sprint(value)
	case string(data) == "null":
		return "none"
	}
	return string(data)
}
