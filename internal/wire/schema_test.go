// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"maps"
	"slices"
	"strings"
)

// attributes are what a schema says of one field. "required" is true of a field
// that the object around it must have.
type attributes map[string]any

// comparedAttributes are those that matter to what is stored and sent, beside
// those of Kubernetes' own.
var comparedAttributes = []string{
	"type", "format", "enum", "default", "nullable",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"pattern", "minLength", "maxLength",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

func isCompared(attribute string) bool {
	return slices.Contains(comparedAttributes, attribute) || strings.HasPrefix(attribute, "x-kubernetes-")
}

// flatten adds the fields below a schema, which stands at the path, to paths.
func flatten(schema map[string]any, path string, paths map[string]attributes) {
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		addField(property, path+"."+name, slices.Contains(required, any(name)), paths)
	}
	addField(schema["items"], path+"[]", false, paths)
	addField(schema["additionalProperties"], path+"{}", false, paths)
}

// addField adds one field and those below it. It does nothing when there is no schema.
func addField(schema any, path string, required bool, paths map[string]attributes) {
	field, ok := schema.(map[string]any)
	if !ok {
		return
	}
	found := attributes(maps.Clone(field))
	maps.DeleteFunc(found, func(attribute string, _ any) bool { return !isCompared(attribute) })
	if required {
		found["required"] = true
	}
	paths[path] = found
	flatten(field, path, paths)
}
