// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestEvaluateBounded: a quantity that takes for ever to compute with is refused.
func TestEvaluateBounded(t *testing.T) {
	e, err := Parse("cpu/2", "cpu")
	if err != nil {
		t.Fatal(err)
	}
	huge := resource.MustParse("1")
	huge.AsDec().SetScale(-1000000000)
	if got, err := e.Evaluate(huge, false); err == nil {
		t.Errorf("no error, and %v", got.Format)
	}
}

// FuzzParse: no text panics, and what is computed is no negative quantity.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"max(cpu*50%, 50m)", "-(1+2)*cpu/3", "1e3Gi", "min(,)", "1e", "1e+", "0x1", "1/3m"} {
		f.Add(text, "500m")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		variable, err := resource.ParseQuantity(value)
		if err != nil {
			return
		}
		e, err := Parse(text, "cpu")
		if err != nil {
			return
		}
		got, err := e.Evaluate(variable, true)
		if err == nil && got.Sign() < 0 {
			t.Errorf("%q, if cpu is %s: %s", text, value, got.String())
		}
	})
}
