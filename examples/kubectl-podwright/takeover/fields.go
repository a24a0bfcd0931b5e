// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// text returns a field that is a string; empty if it is none.
func text(of map[string]any, path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	said, _ := value.(string)
	return said
}

// number returns a field that is a number, and whether it is.
func number(of map[string]any, path ...string) (int64, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	switch n := value.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	}
	return 0, false
}

// truth returns a field that is a boolean; false if it is none.
func truth(of map[string]any, path ...string) bool {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	is, _ := value.(bool)
	return is
}

// has tells whether there is a field.
func has(of map[string]any, path ...string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(of, path...)
	return found && err == nil
}

// objects returns the elements of a list that are objects.
func objects(of map[string]any, path ...string) (all []map[string]any) {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	elements, _ := value.([]any)
	for _, element := range elements {
		if object, ok := element.(map[string]any); ok {
			all = append(all, object)
		}
	}
	return all
}

// strs returns the elements of a list that are strings.
func strs(of map[string]any, path ...string) (all []string) {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	elements, _ := value.([]any)
	for _, element := range elements {
		if said, ok := element.(string); ok {
			all = append(all, said)
		}
	}
	return all
}

// condition returns the status of a condition; empty if there is none.
func condition(o *unstructured.Unstructured, kind string) string {
	for _, c := range objects(o.Object, "status", "conditions") {
		if c["type"] == kind {
			return text(c, "status")
		}
	}
	return ""
}

// title is how findings call an object: "Pod shop/web", or "Node a".
func title(o *unstructured.Unstructured) string { return o.GetKind() + " " + key(o) }

// key is the name of an object with its namespace, if it has one.
func key(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// few names some of many.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// count says how many there are of something.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
