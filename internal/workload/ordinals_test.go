// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
)

func entries(texts ...any) (list []intstr.IntOrString) {
	for _, text := range texts {
		switch v := text.(type) {
		case int:
			list = append(list, intstr.FromInt32(int32(v)))
		case string:
			list = append(list, intstr.FromString(v))
		}
	}
	return list
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entries []any
		want    Reserved
		err     string
	}{
		{nil, nil, ""},
		{[]any{1}, Reserved{{1, 1}}, ""},
		{[]any{3, 1, 2, 2}, Reserved{{1, 3}}, ""},
		{[]any{"5-7"}, Reserved{{5, 7}}, ""},
		{[]any{"5-5", 4, "1-2"}, Reserved{{1, 2}, {4, 5}}, ""},
		{[]any{"1-9", "3-4", 12, "8-10"}, Reserved{{1, 10}, {12, 12}}, ""},
		{[]any{-1, 0}, Reserved{{-1, 0}}, ""},
		{[]any{"007-8"}, Reserved{{7, 8}}, ""},
		{[]any{"0-9223372036854775807"}, Reserved{{0, math.MaxInt}}, ""},
		{[]any{"5-9223372036854775807", 9}, Reserved{{5, math.MaxInt}}, ""},
		{[]any{1, "5", 3, "x"}, Reserved{{1, 1}, {3, 3}}, `spec.reserveOrdinals[1]: found "5", want a number, or a range of numbers such as "5-7"`},
		{[]any{""}, nil, `spec.reserveOrdinals[0]: found "", want a number, or a range of numbers such as "5-7"`},
		{[]any{"-5"}, nil, `spec.reserveOrdinals[0]: found "-5", want a number, or a range of numbers such as "5-7"`},
		{[]any{"5-"}, nil, `spec.reserveOrdinals[0]: found "5-", want a number, or a range of numbers such as "5-7"`},
		{[]any{"1-2-3"}, nil, `spec.reserveOrdinals[0]: found "1-2-3", want a number, or a range of numbers such as "5-7"`},
		{[]any{" 1-2"}, nil, `spec.reserveOrdinals[0]: found " 1-2", want a number, or a range of numbers such as "5-7"`},
		{[]any{"1-9223372036854775808"}, nil, `spec.reserveOrdinals[0]: found "1-9223372036854775808", want a number, or a range of numbers such as "5-7"`},
		{[]any{"7-5"}, nil, `spec.reserveOrdinals[0]: found "7-5", want a range that begins with the lower number`},
	} {
		got, err := ParseReserved(entries(test.entries...))
		message := ""
		if err != nil {
			message = err.Error()
		}
		if diff := cmp.Diff(test.want, got); diff != "" || message != test.err {
			t.Errorf("%v: error %q, want %q (-want +got):\n%s", test.entries, message, test.err, diff)
		}
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entries  []any
		start, n int
		want     string
	}{
		{nil, 0, 0, "[] 0"},
		{nil, 4, 0, "[] 4"},
		{nil, 0, 3, "[0 1 2] 3"},
		{[]any{1}, 0, 3, "[0 2 3] 4"},
		{[]any{0}, 0, 1, "[1] 2"},
		{[]any{1, "4-6"}, 2, 4, "[2 3 7 8] 9"},
		{[]any{"0-3"}, 2, 2, "[4 5] 6"},
		{[]any{"0-1000000000"}, 0, 2, "[1000000001 1000000002] 1000000003"},
		{[]any{-1}, 0, 2, "[0 1] 2"},
		{nil, math.MaxInt32 - 1, 3, "[2147483646 2147483647] 2147483648"},
		{[]any{"1-9223372036854775807"}, 0, 2, "[0] 1"},
	} {
		r, err := ParseReserved(entries(test.entries...))
		if err != nil {
			t.Fatal(err)
		}
		wanted, end := r.Wanted(test.start, test.n)
		if got := fmt.Sprint(wanted, " ", end); got != test.want {
			t.Errorf("%v from %d, %d of them: got %s, want %s", test.entries, test.start, test.n, got, test.want)
		}
	}
}

// What one ordinal after the other says, ranges say too.
func TestRangesAreManyNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []any
		reserved := map[int]bool{}
		for range rapid.IntRange(0, 6).Draw(t, "entries") {
			first := rapid.IntRange(-2, 20).Draw(t, "first")
			last := first + rapid.IntRange(0, 4).Draw(t, "more")
			if first == last {
				list = append(list, first)
			} else {
				first = max(first, 0)
				last = max(first, last)
				list = append(list, fmt.Sprintf("%d-%d", first, last))
			}
			for ordinal := first; ordinal <= last; ordinal++ {
				reserved[ordinal] = true
			}
		}
		r, err := ParseReserved(entries(list...))
		if err != nil {
			t.Fatal(err)
		}
		start, n := rapid.IntRange(0, 8).Draw(t, "start"), rapid.IntRange(0, 8).Draw(t, "n")
		want, end, rank := []int{}, start, 0
		for ordinal := start; len(want) < n; ordinal++ {
			if got := r.Rank(start, ordinal); got != rank {
				t.Fatalf("%v: ordinal %d has the rank %d from %d, want %d", list, ordinal, got, start, rank)
			}
			if r.Contains(ordinal) != reserved[ordinal] {
				t.Fatalf("%v contains %d: %v", list, ordinal, r.Contains(ordinal))
			}
			if !reserved[ordinal] {
				want, end, rank = append(want, ordinal), ordinal+1, rank+1
			}
		}
		if got := r.End(start, n); got != end {
			t.Fatalf("%v from %d: %d ordinals end at %d, want %d", list, start, n, got, end)
		}
		got, last := r.Wanted(start, n)
		if diff := cmp.Diff(want, got); diff != "" || last != end {
			t.Fatalf("%v from %d: end %d, want %d (-want +got):\n%s", list, start, last, end, diff)
		}
	})
}
