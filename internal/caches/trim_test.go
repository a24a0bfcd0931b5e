// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"
)

// TestTrim shows what is left of the objects in testdata/trim.txt.
func TestTrim(t *testing.T) {
	datadriven.RunTest(t, "testdata/trim.txt", func(t *testing.T, d *datadriven.TestData) string {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(d.Input), nil, nil)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		trimmed, err := Trim(object)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		left, err := yaml.Marshal(trimmed)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return string(left)
	})
	missed := cache.DeletedFinalStateUnknown{Key: "x/a"}
	if got, err := Trim(missed); err != nil || got != any(missed) {
		t.Errorf("got %v, %v", got, err)
	}
}
