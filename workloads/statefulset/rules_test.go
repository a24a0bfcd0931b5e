// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"
)

func with(edits ...edit) []edit { return edits }

func TestOrdinals(t *testing.T) {
	for _, tt := range []struct {
		name     string
		replicas int32
		start    int32
		reserve  []any
		wanted   []int
		end      int
	}{
		{"STS-1: without reserved ordinals", 3, 0, nil, []int{0, 1, 2}, 3},
		{"STS-1: replicas 3, reserve [1]", 3, 0, []any{1}, []int{0, 2, 3}, 4},
		{"STS-1: replicas 2, reserve [1]", 2, 0, []any{1}, []int{0, 2}, 3},
		{"STS-1: replicas 0", 0, 0, []any{0}, nil, 0},
		{"STS-1: a reserved ordinal beyond the window", 2, 0, []any{7}, []int{0, 1}, 2},
		{"STS-1: the same ordinal reserved twice", 2, 0, []any{0, 0}, []int{1, 2}, 3},
		{"STS-E13: reserve [0], replicas 1", 1, 0, []any{0}, []int{1}, 2},
		{"STS-31: from 4", 2, 4, nil, []int{4, 5}, 6},
		{"STS-31: from 4, without replicas", 0, 4, nil, nil, 4},
		{"STS-31: from 4, reserve [3, 5]", 2, 4, []any{3, 5}, []int{4, 6}, 7},
		{"STS-32: reserve [1-2, 5], replicas 4", 4, 0, []any{"1-2", 5}, []int{0, 3, 4, 6}, 7},
		{"STS-32: ranges overlap, and one is of one ordinal", 3, 0, []any{"1-3", "2-4", 3, "6-6"}, []int{0, 5, 7}, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testSnapshot(t, "A", "A", "", replicas(tt.replicas), reserve(tt.reserve...), startAt(tt.start))
			w, err := s.newWindow()
			if err != nil {
				t.Fatal(err)
			}
			if len(w.wanted) != len(tt.wanted) || w.end != tt.end {
				t.Fatalf("wanted %v up to %d, want %v up to %d", w.wanted, w.end, tt.wanted, tt.end)
			}
			for i := range tt.wanted {
				if w.wanted[i] != tt.wanted[i] || !w.contains(tt.wanted[i]) {
					t.Fatalf("wanted %v, want %v", w.wanted, tt.wanted)
				}
			}
		})
	}
}

func TestOrdinalOf(t *testing.T) {
	for _, tt := range []struct {
		pod  string
		want int
		ok   bool
	}{
		{"web-0", 0, true}, {"web-17", 17, true}, {"web-2147483647", 2147483647, true},
		{"web-2147483648", 0, false}, {"web-01", 0, false}, {"web-", 0, false}, {"web", 0, false}, {"web--1", 0, false},
		{"web-+1", 0, false}, {"web-a", 0, false}, {"web-1-2", 0, false}, {"other-1", 0, false}, {"", 0, false},
	} {
		t.Run("STS-2: "+tt.pod, func(t *testing.T) {
			got, ok := ordinalOf("web", tt.pod)
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %d, %v, want %d, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
