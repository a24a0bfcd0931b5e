// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Objects that OpenKruise 1.4 has stored can be read, whatever their numbers, and mean the same when they are written back. (STS-32)
func TestReservedOrdinals(t *testing.T) {
	for _, test := range []struct {
		stored string
		want   ReservedOrdinals
		back   string
	}{
		{`null`, nil, `null`},
		{`[]`, ReservedOrdinals{}, `[]`},
		{`[1,"5-7"]`, ReservedOrdinals{intstr.FromInt32(1), intstr.FromString("5-7")}, `[1,"5-7"]`},
		{`[2147483647,2147483648]`, ReservedOrdinals{intstr.FromInt32(2147483647), intstr.FromString("2147483648-2147483648")}, `[2147483647,"2147483648-2147483648"]`},
		{`[-1,-3000000000]`, ReservedOrdinals{intstr.FromInt32(-1), intstr.FromInt32(-2147483648)}, `[-1,-2147483648]`},
	} {
		var got ReservedOrdinals
		if err := json.Unmarshal([]byte(test.stored), &got); err != nil {
			t.Fatal(err)
		}
		back, err := json.Marshal(got)
		if diff := cmp.Diff(test.want, got); diff != "" || string(back) != test.back || err != nil {
			t.Errorf("%s came back as %s, error %v (-want +got):\n%s", test.stored, back, err, diff)
		}
	}
	for _, wrong := range []string{`"1-2"`, `[true]`, `[1.5]`, `[{}]`} {
		if err := json.Unmarshal([]byte(wrong), &ReservedOrdinals{}); err == nil {
			t.Errorf("%s was read", wrong)
		}
	}
}
