// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A caseOf is a test of a package and what it sees.
type caseOf struct {
	name  string
	place string // file:line
	lines int
	kills map[int]bool // mutants by their numbers
}

// Idle prints the tests without which the others kill all the same mutants of the sample, the longest first. One that it names may
// still hold what no mutant is about: bytes on the wire, allocations, races, or a promise that no line keeps.
func (p *pkg) idle(ctx context.Context, known map[string]string, o options) error {
	folder, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b, err := p.prepare(ctx, folder, known, o)
	if err != nil {
		return err
	}
	for i, of := range append([]string{p.folder}, p.also...) {
		cases, err := casesIn(of)
		if err != nil {
			return err
		}
		for _, n := range slices.Sorted(maps.Keys(b.alive)) {
			failed, err := b.killers(ctx, of, b.program("switched", i), n)
			if err != nil {
				return err
			}
			for _, name := range failed {
				if c := cases[name]; c != nil {
					c.kills[n] = true
				}
			}
		}
		fmt.Printf("%s: %d mutants\n%s", of, len(b.alive), idleOf(slices.Collect(maps.Values(cases))))
	}
	return nil
}

// IdleOf takes tests away, the longest first, as long as all mutants that the tests kill have a test that kills them. It returns
// a line for each that went.
func idleOf(cases []*caseOf) string {
	killers := map[int]int{}
	for _, c := range cases {
		for n := range c.kills {
			killers[n]++
		}
	}
	slices.SortFunc(cases, func(a, b *caseOf) int { return cmp.Or(b.lines-a.lines, cmp.Compare(a.place, b.place)) })
	var out strings.Builder
	lines, count := 0, 0
	for _, c := range cases {
		if slices.ContainsFunc(slices.Collect(maps.Keys(c.kills)), func(n int) bool { return killers[n] == 1 }) {
			continue
		}
		for n := range c.kills {
			killers[n]--
		}
		fmt.Fprintf(&out, "idle  %4d lines, kills %4d  %s %s\n", c.lines, len(c.kills), c.place, c.name)
		lines, count = lines+c.lines, count+1
	}
	fmt.Fprintf(&out, "%d of %d tests are idle, with %d lines; %d mutants are killed\n", count, len(cases), lines, len(killers))
	return out.String()
}

// CasesIn returns the tests of the package in a folder by their names. Examples and benchmarks are for readers, and left out.
func casesIn(folder string) (map[string]*caseOf, error) {
	cases := map[string]*caseOf{}
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok || function.Recv != nil || !strings.HasPrefix(function.Name.Name, "Test") {
				continue
			}
			from, to := set.Position(function.Pos()).Line, set.Position(function.End()).Line
			cases[function.Name.Name] = &caseOf{name: function.Name.Name, place: fmt.Sprintf("%s:%d", filepath.Base(file), from), lines: to - from + 1, kills: map[int]bool{}}
		}
	}
	return cases, nil
}

var (
	failedTest  = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	runningTest = regexp.MustCompile(`(?m)^\t+(Test\w+)[ /].*\(\d`)
)

// How often the tests run again without those that ended the program.
const rounds = 6

// Killers returns the tests that fail for a mutant. A test that ends the program hides those that come after it, so that these run
// once more without it.
func (b *bench) killers(ctx context.Context, folder, program string, alive int) ([]string, error) {
	var names []string
	for range rounds {
		skip := b.without
		for _, name := range names {
			skip = strings.TrimPrefix(skip+"|^"+name+"$", "|")
		}
		command := exec.CommandContext(ctx, "sh", "-c", `ulimit -v "$0" 2>/dev/null; exec "$@"`, strconv.Itoa(memory),
			program, "-test.timeout="+b.timeout.String(), "-test.skip="+skip)
		command.Dir = folder
		command.Env = append(os.Environ(), variable+"="+strconv.Itoa(alive), "RAPID_NOFAILFILE=1")
		out, err := command.CombinedOutput()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		before := len(names)
		names = append(names, failedIn(string(out), names)...)
		if err == nil || len(names) == before || !bytes.Contains(out, []byte("panic: ")) {
			break
		}
	}
	return names, nil
}

// FailedIn returns the tests that failed by what the program printed, or that ran when it ran out of time, but for the known ones.
func failedIn(out string, known []string) (names []string) {
	for _, found := range append(failedTest.FindAllStringSubmatch(out, -1), runningTest.FindAllStringSubmatch(out, -1)...) {
		if name := found[1]; !slices.Contains(known, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
