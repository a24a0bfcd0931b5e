// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"fmt"
	"strings"
	"testing"
)

// TestTake has namespaces take workers, a letter each, and give them back, if the letter is a capital. (CRR-5.1, CM-6)
func TestTake(t *testing.T) {
	for _, test := range []struct {
		workers     int
		takes, want string // those that have got one
	}{
		{32, strings.Repeat("a", 40), strings.Repeat("a", 24)},
		{32, strings.Repeat("a", 40) + strings.Repeat("b", 40) + "cc", strings.Repeat("a", 24) + strings.Repeat("b", 6) + "c"},
		{10, strings.Repeat("a", 20) + strings.Repeat("b", 20) + "cc", strings.Repeat("a", 7) + strings.Repeat("b", 2) + "c"},
		{5, "aaaaabbbbbcc", "aaabc"},
		{4, "aAaAaAaa", "aaaaa"},
		{1, "abAbBb", "abb"},
		{0, "aaaab", "aaaab"},
	} {
		t.Run(fmt.Sprint(test.workers, " ", test.takes), func(t *testing.T) {
			s, got, frees := Shares{Workers: test.workers}, "", map[string][]func(){}
			for _, letter := range strings.Split(test.takes, "") {
				namespace := strings.ToLower(letter)
				if letter != namespace {
					frees[namespace][0]()
					frees[namespace] = frees[namespace][1:]
					continue
				}
				if free, ok := s.Take(namespace); ok {
					got += namespace
					frees[namespace] = append(frees[namespace], free)
				}
			}
			if got != test.want {
				t.Errorf("%s have got one, want %s", got, test.want)
			}
			for _, of := range frees {
				for _, free := range of {
					free()
				}
			}
			if s.all != 0 || len(s.held) != 0 {
				t.Errorf("all have given theirs back, and %d are held: %v", s.all, s.held)
			}
		})
	}
}

// CRR-5.1: those that wait can be told for whom.
func TestHolders(t *testing.T) {
	s := &Shares{Workers: 32}
	if got := s.Holders(); got != "" {
		t.Errorf("%q hold a free worker", got)
	}
	var frees []func()
	for _, namespace := range []string{"b", "a", "b", "c", "d", "d", "d", "e"} {
		free, ok := s.Take(namespace)
		if !ok {
			t.Fatalf("%s gets no worker", namespace)
		}
		frees = append(frees, free)
	}
	if got, want := s.Holders(), "d (3), b (2), a (1), 2 more namespaces"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, free := range frees[1:] {
		free()
	}
	if got, want := s.Holders(), "b (1)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
