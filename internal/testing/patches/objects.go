// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"
)

// Object reads an object in YAML, which has no fields that its type lacks.
func Object[T any](t testing.TB, text string) *T {
	t.Helper()
	object := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), object); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return object
}

// JSON encodes a value.
func JSON(t testing.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
