// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A sample depends on the seed alone, and has as many mutants as were asked for.
func TestDraw(t *testing.T) {
	sample := func(count int, seed uint64) (drawn int, names string) {
		var packages []*pkg
		for n := range 5 {
			p := &pkg{name: fmt.Sprint(n)}
			for line := range 10 {
				p.mutants = append(p.mutants, mutant{pkg: p.name, line: line})
			}
			packages = append(packages, p)
		}
		draw(packages, count, seed)
		for _, p := range packages {
			drawn += p.drawn
			names += fmt.Sprintln(p.mutants[:p.drawn])
		}
		return drawn, names
	}
	for count, want := range map[int]int{0: 50, 1: 1, 20: 20, 50: 50, 51: 50} {
		drawn, names := sample(count, 1)
		if drawn != want {
			t.Errorf("%d of %d mutants were drawn", drawn, want)
		}
		if _, again := sample(count, 1); again != names {
			t.Errorf("the same seed draws\n%s\nand\n%s", names, again)
		}
	}
	_, one := sample(20, 1)
	if _, other := sample(20, 2); other == one {
		t.Error("two seeds draw the same")
	}
}

func TestParseEquivalents(t *testing.T) {
	known, err := parseEquivalents("# All of them.\n\na/b start\nx => y\nThe two\nare one.\n\n\na/b start\nx => z\nNever read.\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(known) != 2 || known["a/b start\nx => y"] != "The two are one." || known["a/b start\nx => z"] != "Never read." {
		t.Errorf("got %q", known)
	}
	for _, wrong := range []string{"a/b start\nx => y", "a\nb\nc\n\na\nb\nd"} {
		if _, err := parseEquivalents(wrong); err == nil {
			t.Errorf("no error for %q", wrong)
		}
	}
}

// A reason is for a mutant that exists: code that changes takes its reasons with it.
func TestEquivalentsExist(t *testing.T) {
	known, err := readEquivalents("equivalents.txt")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for key := range known {
		name, _, _ := strings.Cut(key, " ")
		files, err := filepath.Glob(filepath.Join("../../..", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			mutants, err := find(name, filepath.Base(file), source)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range mutants {
				found[m.key()] = true
			}
		}
		if !found[key] {
			t.Errorf("equivalents.txt names what is no mutant, write it as the code is now or remove it:\n%s", key)
		}
	}
}

// inModule has the test go on in a copy of the module in testdata/limited, of which it returns the planner.
func inModule(t *testing.T) (planner string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/limited")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	t.Setenv("GOFLAGS", "-buildvcs=false")
	return read(t, "plan.go")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The whole run, with mutants of each outcome. An endless loop times out.
func TestRun(t *testing.T) {
	planner := inModule(t)
	o := options{files: strings.Fields(decidingFiles), skip: regexp.MustCompile("$^"), only: regexp.MustCompile(""), packages: []string{"./..."}}
	packages, err := load(t.Context(), o)
	if err != nil || len(packages) != 1 || packages[0].name != "." {
		t.Fatalf("packages %v, error %v", packages, err)
	}
	draw(packages, 0, 1)
	known := map[string]string{". most\nfor b < a { => for b <= a {": "Nothing comes here with b < a."}
	got, err := packages[0].test(t.Context(), known, options{wait: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var survivors []string
	for _, m := range got.survivors {
		survivors = append(survivors, m.change)
	}
	slices.Sort(survivors)
	want := []string{"if a > b { => if a >= b {", "if ok { => if !(ok) {", "without b++", "without n = 2", "without println(n)"}
	if !slices.Equal(survivors, want) {
		t.Errorf("survivors %q, want %q", survivors, want)
	}
	// a - b does not compile.
	if want := len(packages[0].mutants) - 1; got.planted() != want || got.equivalent != 1 || got.late != 1 {
		t.Errorf("%d planted, want %d; %d equivalent, want 1; %d timed out, want 1", got.planted(), want, got.equivalent, got.late)
	}
	if now := read(t, "plan.go"); now != planner {
		t.Errorf("the source is now\n%s", now)
	}
}

// Tests that fail without a change say nothing about one.
func TestRunOfFailingTests(t *testing.T) {
	inModule(t)
	test := strings.Replace(read(t, "plan_test.go"), "most(1, 2) != 2", "most(1, 2) == 2", 1)
	if err := os.WriteFile("plan_test.go", []byte(test), 0o600); err != nil {
		t.Fatal(err)
	}
	o := options{count: 1, files: []string{"plan.go"}, skip: regexp.MustCompile("$^"), only: regexp.MustCompile(""), packages: []string{"./..."}}
	if err := run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "without a change: killed") {
		t.Errorf("error %v", err)
	}
}
