// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows.txt.
type row struct {
	Raw     string   // JSON
	All     []string // who controls, as shop/ReplicaSet.apps
	Without string   // the group that is left out
}

// TestRows plays the tables of testdata/rows.txt, see patches.PlayRows. They show what becomes of quantities, and which requests are
// about the pods of a controller.
func TestRows(t *testing.T) {
	patches.PlayRows(t, "testdata/rows.txt", nil, func(_ *testing.T, command string, r *row) string {
		if command == "quantities" {
			return string(TameQuantities([]byte(r.Raw)))
		}
		var all []Controlled
		for _, text := range r.All {
			namespace, kind, _ := strings.Cut(text, "/")
			all = append(all, Controlled{namespace, schema.ParseGroupKind(kind)})
		}
		return MatchControlled(all, r.Without)
	})
}

// Every number that is left can be decoded and compared in no time: the fuzzer
// ends a case that hangs. The quick look misses none that is taken.
func FuzzTameQuantities(f *testing.F) {
	for _, s := range []string{"1e-100000000", "1e2147483647", "-.5E-9999", "1e999", "1e-999", "100m", "1Gi"} {
		f.Add(s)
	}
	one := resource.MustParse("1")
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if extreme.Match(raw) && !mayBeExtreme(raw) {
			t.Errorf("%s was not looked at", raw)
		}
		var quantity resource.Quantity
		if json.Unmarshal(TameQuantities(raw), &quantity) == nil {
			quantity.Cmp(one)
		}
	})
}
