// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// addV1beta1 adds v1beta1 to the versions of a definition, made of its v1alpha1:
// served, not stored. One that stands there is made anew, unless objects are
// stored in it. The definition is changed only if there is no error.
func (k *Conversion) addV1beta1(crd *unstructured.Unstructured) error {
	all, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return err
	}
	alpha, beta := versionAt(all, V1alpha1), versionAt(all, V1beta1)
	if alpha < 0 {
		return fmt.Errorf("spec.versions: want %s, from which %s is made, found none", V1alpha1, V1beta1)
	}
	if beta >= 0 && all[beta].(map[string]any)["storage"] == true {
		return nil
	}
	derived := runtime.DeepCopyJSON(all[alpha].(map[string]any))
	if err := k.derive(derived); err != nil {
		return err
	}
	if beta >= 0 {
		all[beta] = derived
	} else {
		all = append(all, derived)
	}
	return unstructured.SetNestedSlice(crd.Object, all, "spec", "versions")
}

// versionAt returns the index of a version in those of a definition; negative if it is not there.
func versionAt(all []any, v Version) int {
	return slices.IndexFunc(all, func(item any) bool {
		version, _ := item.(map[string]any)
		return version["name"] == string(v)
	})
}

// derive makes v1beta1 of v1alpha1.
func (k *Conversion) derive(version map[string]any) error {
	version["name"], version["served"], version["storage"] = string(V1beta1), true, false
	schema, found, err := unstructured.NestedFieldNoCopy(version, "schema", "openAPIV3Schema")
	root, _ := schema.(map[string]any)
	if err != nil || !found || root == nil {
		return fmt.Errorf("spec.versions[%s].schema.openAPIV3Schema: want a schema, found none", V1alpha1)
	}
	for i := range k.Fields {
		if err := k.Fields[i].derive(root); err != nil {
			return err
		}
	}
	k.deriveRules(root)
	if columns, ok := version["additionalPrinterColumns"].([]any); ok {
		version["additionalPrinterColumns"] = slices.DeleteFunc(columns, func(item any) bool {
			column, _ := item.(map[string]any)
			name, _ := column["name"].(string)
			return slices.Contains(k.NoColumns, name)
		})
	}
	return nil
}

// derive makes the schema of a field in v1beta1.
func (f *ConvertedField) derive(root map[string]any) error {
	if f.In == V1alpha1 {
		removeField(root, f.Path)
		return nil
	}
	if f.Schema == "" { // both versions have what is in metadata
		return nil
	}
	required := f.renamed() && removeField(root, f.Twin)
	schema, at := map[string]any{}, parentSchema(root, f.Path)
	if err := utiljson.Unmarshal([]byte(f.Schema), &schema); err != nil {
		return fmt.Errorf("schema of %s: %w", f.Path, err)
	}
	if at == nil {
		return fmt.Errorf("schema of %s: want %s to have properties, found none", f.Path, f.Path[:len(f.Path)-1])
	}
	name := f.Path[len(f.Path)-1]
	at["properties"].(map[string]any)[name] = schema
	if list, ok := at["required"].([]any); ok && required {
		at["required"] = append(list, name)
	}
	return nil
}

// removeField removes a field from a schema, and tells whether it was required.
func removeField(root map[string]any, path Path) (required bool) {
	at := parentSchema(root, path)
	if at == nil {
		return false
	}
	name := path[len(path)-1]
	delete(at["properties"].(map[string]any), name)
	if list, ok := at["required"].([]any); ok {
		rest := slices.DeleteFunc(slices.Clone(list), func(item any) bool { return item == name })
		at["required"], required = rest, len(rest) < len(list)
	}
	return required
}

// parentSchema returns the schema of the object that holds a field, nil if
// it has no properties.
func parentSchema(root map[string]any, path Path) map[string]any {
	for _, name := range path[:len(path)-1] {
		properties, _ := root["properties"].(map[string]any)
		root, _ = properties[name].(map[string]any)
	}
	if properties, _ := root["properties"].(map[string]any); properties == nil {
		return nil
	}
	return root
}

// deriveRules takes the rules away that v1beta1 lacks.
func (k *Conversion) deriveRules(root map[string]any) {
	list, found := root["x-kubernetes-validations"].([]any)
	if !found {
		return
	}
	root["x-kubernetes-validations"] = slices.DeleteFunc(list, func(item any) bool {
		rule, _ := item.(map[string]any)
		text, _ := rule["rule"].(string)
		return slices.ContainsFunc(k.NoRules, func(part string) bool { return strings.Contains(text, part) })
	})
}
