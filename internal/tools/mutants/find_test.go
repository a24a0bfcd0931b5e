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

// In testdata/find.txt stand a source, its mutants, and what its function stop is with those switched on and off.
func TestFind(t *testing.T) {
	parts := strings.Split(read(t, "testdata/find.txt"), "----\n")
	source := parts[0]
	found, err := find("pkg", "plan.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	checkPlanted(t, source, found)
	checkSwitched(t, source, found)
	var lines []string
	for _, m := range found {
		lines = append(lines, strings.TrimPrefix(m.String(), "pkg/plan.go:")+"\n")
	}
	slices.Sort(lines)
	if got := strings.Join(lines, ""); got != parts[1] {
		t.Errorf("got\n%s\nwant\n%s", got, parts[1])
	}
	few := slices.DeleteFunc(found, func(m mutant) bool { return m.function != "stop" })
	if got := string(switched([]byte(source), numbered(few))); !strings.Contains(got, parts[2]) {
		t.Errorf("got\n%s\nwant in it\n%s", got, parts[2])
	}
}

// checkPlanted: a mutant changes its own bytes and no others.
func checkPlanted(t *testing.T, source string, found []mutant) {
	t.Helper()
	before := strings.Split(source, "\n")
	for _, m := range found {
		after := strings.Split(string(m.planted([]byte(source))), "\n")
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

// numbered are mutants by number, from 1.
func numbered(found []mutant) map[int]mutant {
	all := map[int]mutant{}
	for i, m := range found {
		all[i+1] = m
	}
	return all
}

// checkSwitched: all mutants of a file stand in one program. Without one it is as before, and no line moves.
func checkSwitched(t *testing.T, source string, found []mutant) {
	t.Helper()
	all := numbered(found)
	got := string(switched([]byte(source), all))
	if _, err := parser.ParseFile(token.NewFileSet(), "plan.go", got, parser.SkipObjectResolution); err != nil {
		t.Errorf("it cannot be read: %v\n%s", err, got)
	}
	if strings.Count(got, "\n") != strings.Count(source, "\n") {
		t.Errorf("it has other lines:\n%s", got)
	}
	for n := range all {
		if number := regexp.MustCompile(fmt.Sprintf(`mutant\w+\(%d[,)]`, n)); len(number.FindAllString(got, -1)) != 1 {
			t.Errorf("mutant %d, %s, is not in it once:\n%s", n, all[n], got)
		}
	}
}
