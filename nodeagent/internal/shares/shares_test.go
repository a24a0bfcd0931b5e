// SPDX-License-Identifier: Apache-2.0

package shares

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/patches"
)

// row is who takes workers: a letter is a namespace that takes one, and a capital one that gives the first back that it has.
type row struct {
	Workers int
	Takes   string
}

// TestTake shows which namespaces get workers, and who holds them then: see patches.PlayRows. Those that wait can be told for whom. (CRR-5.1, CM-6)
func TestTake(t *testing.T) {
	patches.PlayRows(t, "testdata", func() row { return row{Workers: 32} }, func(t *testing.T, _ string, r *row) string {
		s, got, frees := Shares{Workers: r.Workers}, "", map[string][]func(){}
		for _, letter := range strings.Split(r.Takes, "") {
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
		holders := s.Holders()
		for _, of := range frees {
			for _, free := range of {
				free()
			}
		}
		if s.all != 0 || len(s.held) != 0 || s.Holders() != "" {
			t.Errorf("all have given theirs back, and %d are held: %v", s.all, s.held)
		}
		return fmt.Sprintf("%s; held by %s", got, holders)
	})
}
