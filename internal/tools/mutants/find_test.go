// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const planner = `package p

type planner[T any] struct{ n int }

func (p *planner[T]) start(names []string) string {
	p.n++
	p.log("begin")
	logger.V(4).Info("begin")
	for i := 0; i < len(names); i++ {
		if names[i] == "a" && p.n >= 10 {
			continue
		}
		if p.ready() {
			break
		}
		p.n = p.n - 1
	}
	return "x" + names[0]
}

func stop(a, b int) bool {
	a += 2
	a += 2
	return a != b
}
`

func TestFind(t *testing.T) {
	want := []string{
		"6: planner.start: without p.n++",
		`7: planner.start: without p.log("begin")`,
		"16: planner.start: p.n = p.n - 1 => p.n = p.n + 1",
		"16: planner.start: p.n = p.n - 1 => p.n = p.n - 0",
		"16: planner.start: without p.n = p.n - 1",
		"9: planner.start: for i := 0; i < len(names); i++ { => for i := 1; i < len(names); i++ {",
		"9: planner.start: for i := 0; i < len(names); i++ { => for i := 0; i <= len(names); i++ {",
		`10: planner.start: if names[i] == "a" && p.n >= 10 { => if !(names[i] == "a" && p.n >= 10) {`,
		`10: planner.start: if names[i] == "a" && p.n >= 10 { => if names[i] == "a" || p.n >= 10 {`,
		`10: planner.start: if names[i] == "a" && p.n >= 10 { => if names[i] != "a" && p.n >= 10 {`,
		`10: planner.start: if names[i] == "a" && p.n >= 10 { => if names[i] == "a" && p.n > 10 {`,
		"11: planner.start: continue => break",
		"13: planner.start: if p.ready() { => if !(p.ready()) {",
		"14: planner.start: break => continue",
		`18: planner.start: return "x" + names[0] => return "x" + names[1]`,
		"22: stop: without a += 2",
		"23: stop: without a += 2 (2)",
		"24: stop: return a != b => return a == b",
	}
	found, err := find("pkg", "plan.go", []byte(planner))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range found {
		got = append(got, strings.TrimPrefix(m.String(), "pkg/plan.go:"))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A mutant changes its own bytes and no others.
func TestPlanted(t *testing.T) {
	found, err := find("pkg", "plan.go", []byte(planner))
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(planner, "\n")
	for _, m := range found {
		after := strings.Split(string(m.planted([]byte(planner))), "\n")
		if len(after) != len(before) {
			t.Fatalf("%s: %d lines, want %d", m, len(after), len(before))
		}
		for i := range after {
			if changed := after[i] != before[i]; changed != (i == m.line-1) {
				t.Errorf("%s: line %d: %q, before %q", m, i+1, after[i], before[i])
			}
		}
	}
}

// All mutants of a file stand in one program: without one it is as before, and no line moves.
func TestSwitched(t *testing.T) {
	found, err := find("pkg", "plan.go", []byte(planner))
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]mutant{}
	for i, m := range found {
		all[i+1] = m
	}
	got := string(switched([]byte(planner), all))
	if _, err := parser.ParseFile(token.NewFileSet(), "plan.go", got, parser.SkipObjectResolution); err != nil {
		t.Errorf("it cannot be read: %v\n%s", err, got)
	}
	if strings.Count(got, "\n") != strings.Count(planner, "\n") {
		t.Errorf("it has other lines:\n%s", got)
	}
	for n := range all {
		if number := regexp.MustCompile(fmt.Sprintf(`mutant\w+\(%d[,)]`, n)); len(number.FindAllString(got, -1)) != 1 {
			t.Errorf("mutant %d, %s, is not in it once:\n%s", n, all[n], got)
		}
	}
	want := `func stop(a, b int) bool {
	if !mutantOn(1) { a += 2 }
	if !mutantOn(2) { a += 2 }
	return ((a != b) != mutantOn(3))
}`
	var few []mutant
	for _, m := range found {
		if m.function == "stop" {
			few = append(few, m)
		}
	}
	got = string(switched([]byte(planner), map[int]mutant{1: few[0], 2: few[1], 3: few[2]}))
	if !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}
