// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
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

// TestOrdinals shows in testdata/ordinals.txt which ordinals are reserved, and which are wanted then.
func TestOrdinals(t *testing.T) {
	t.Parallel()
	datadriven.RunTest(t, "testdata/ordinals.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSpace(line)
			text, start, n := line, 0, 0
			if before, rest, found := strings.Cut(line, " of "); found {
				var from string
				text, from, _ = strings.Cut(rest, " from ")
				if _, err := fmt.Sscan(before+" "+from, &n, &start); err != nil {
					t.Fatal(err)
				}
			}
			var list []intstr.IntOrString
			if err := yaml.Unmarshal([]byte(text), &list); err != nil {
				t.Fatal(err)
			}
			r, err := ParseReserved(list)
			fmt.Fprintf(&out, "%s: ", line)
			if d.Cmd == "wanted" {
				wanted, end := r.Wanted(start, n)
				fmt.Fprintln(&out, wanted, end)
				continue
			}
			fmt.Fprint(&out, r)
			if err != nil {
				fmt.Fprintf(&out, ", %v", err)
			}
			fmt.Fprintln(&out)
		}
		return out.String()
	})
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
