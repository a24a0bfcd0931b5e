// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
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

// A spec has numbers and ranges in fields of their own, and one list on the wire. Programs written for OpenKruise 1.4 go on to
// compile. (STS-32)
func TestSpecOfReservedOrdinals(t *testing.T) {
	var spec StatefulSetSpec
	read := func(text string) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &spec); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		t.Helper()
		data, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		var wire struct {
			ReserveOrdinals json.RawMessage `json:"reserveOrdinals"`
			ServiceName     string          `json:"serviceName"`
		}
		if err := json.Unmarshal(data, &wire); err != nil || wire.ServiceName != "web" {
			t.Fatalf("error %v, wire %s", err, data)
		}
		return string(wire.ReserveOrdinals)
	}
	read(`{"serviceName":"web","reserveOrdinals":[3,"5-7",1]}`)
	if diff := cmp.Diff([]int{3, 1}, spec.ReserveOrdinals); diff != "" || len(spec.ReserveOrdinalRanges) != 1 || list() != `[3,1,"5-7"]` {
		t.Errorf("read %v and %v, wrote %s", spec.ReserveOrdinals, spec.ReserveOrdinalRanges, list())
	}
	read(`{"replicas":2}`) // a patch of something else
	if got := list(); got != `[3,1,"5-7"]` {
		t.Errorf("after another patch: %s", got)
	}
	read(`{"reserveOrdinals":["9-9"]}`)
	if got := list(); got != `["9-9"]` {
		t.Errorf("after another list: %s", got)
	}
	spec.ReserveOrdinals = []int{0, math.MaxInt32 + 1}
	if got := list(); got != `[0,"2147483648-2147483648","9-9"]` {
		t.Errorf("numbers of a program: %s", got)
	}
	if got := len(spec.Reserved()); got != 3 {
		t.Errorf("%d entries, want 3", got)
	}
	spec.ReserveOrdinals, spec.ReserveOrdinalRanges = nil, nil
	if got := list(); got != "" {
		t.Errorf("none is written as %s", got)
	}
	if fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&StatefulSet{Spec: StatefulSetSpec{ReserveOrdinals: []int{4}}}); err != nil {
		t.Error(err)
	} else if diff := cmp.Diff([]any{int64(4)}, fields["spec"].(map[string]any)["reserveOrdinals"]); diff != "" {
		t.Error(diff)
	}
}
