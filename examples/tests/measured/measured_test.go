// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpToDate wants the charts and the tables that follow from the runs, and no other charts.
func TestUpToDate(t *testing.T) {
	want, err := render("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range want {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Errorf("%v; run: go run ./tests/measured", err)
		} else if diff := cmp.Diff(string(content), string(got)); diff != "" {
			t.Errorf("%s is not what follows from the runs; run: go run ./tests/measured (-want +got):\n%s", name, diff)
		}
	}
	charts, err := filepath.Glob("charts/*")
	if err != nil || len(charts) != len(want)-1 {
		t.Errorf("want %d charts (%v), found %v", len(want)-1, err, charts)
	}
}

// TestChartsAreShown wants each chart on the page.
func TestChartsAreShown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	charts, err := filepath.Glob("charts/*.svg")
	if err != nil || len(charts) == 0 {
		t.Fatalf("charts: %v, error %v", charts, err)
	}
	for _, name := range charts {
		if !strings.Contains(string(text), "](tests/measured/"+filepath.ToSlash(name)+")") {
			t.Errorf("%s does not show %s", page, name)
		}
	}
}

// TestPicture wants bars as long as their values say, and well-formed XML whatever the labels are.
func TestPicture(t *testing.T) {
	c := chart{Title: "a < b", Unit: "ms", Series: []string{"one", "two & three"}, Decimals: 1, Groups: []group{
		{"first", []value{of(10), of(5)}}, {"second", []value{of(1), {}}},
	}}
	got, err := svg(c)
	if err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(strings.NewReader(string(got)))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in:\n%s", err, got)
		}
	}
	var widths []int
	for _, m := range regexp.MustCompile(`width="(\d+)" height="`+strconv.Itoa(bar)+`"`).FindAllStringSubmatch(string(got), -1) {
		n, _ := strconv.Atoi(m[1])
		widths = append(widths, n)
	}
	whole := width - left - right
	if diff := cmp.Diff([]int{whole, whole / 2, whole / 10, 0}, widths); diff != "" {
		t.Errorf("widths of bars (-want +got):\n%s", diff)
	}
	for _, want := range []string{"10.0 ms", "5.0 ms", "not counted", "a &lt; b", "two &amp; three"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	for name, c := range map[string]chart{
		"no values":            {Title: "a", Series: []string{"one"}, Groups: []group{{"first", []value{{}}}}},
		"a value is missing":   {Title: "a", Series: []string{"one", "two"}, Groups: []group{{"first", []value{of(1)}}}},
		"more than colors are": {Title: "a", Series: make([]string, 5), Groups: []group{{"first", make([]value, 5)}}},
	} {
		if _, err := svg(c); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

// TestRead wants files that cannot be what they should be to be refused.
func TestRead(t *testing.T) {
	good, err := os.ReadFile("runs/2026-11-27-podwright.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(good), "\n")
	for name, c := range map[string]struct {
		text  string
		wrong string // empty: it is read
	}{
		"all phases":         {string(good), ""},
		"a phase is missing": {rest, "phase create is missing"},
		"a phase twice":      {string(good) + first, `phase "create": want each once`},
		"an unknown field":   {`{"wall": 1}`, `unknown field "wall"`},
		"no pods":            {strings.Replace(string(good), `"pods": 2000`, `"pods": 0`, 1), `phase "create": want each once, with pods`},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "run"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readRun(folder, "run")
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: got error %v, want %q", name, err, c.wrong)
		}
	}
}

// TestTable shows how numbers are written.
func TestTable(t *testing.T) {
	ours, theirs := run{}, run{}
	for _, p := range phases {
		ours[p.name] = phase{Name: p.name, Pods: 1000, Wall: 2, CPU: 1.5, Peak: 80, Requests: map[string]int{"create pods": 1000, "patch pods/status": 1020, "watch pods": 500}}
		theirs[p.name] = phase{Name: p.name, Pods: 1000, Wall: 4.25, CPU: 9, Peak: 150, Requests: map[string]int{"create pods": 4000}}
	}
	got := sideBySide(ours, theirs, nil)
	for _, want := range []string{"| create | 2.02 / 4.00 | 1.50 / 9.00 ms | 2.0 / 4.2 s |\n", "\nPeak memory: 80 / 150 MB.\n", "|---|---|---|---|\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	for n, want := range map[float64]string{4321: "4 µs", 33_100_000: "33.1 ms"} {
		if got := duration(n); got != want {
			t.Errorf("%v nanoseconds: got %s, want %s", n, got, want)
		}
	}
	if got := thousands(1_000_020); got != "1,000,020" {
		t.Errorf("got %s", got)
	}
}

// TestFill wants the marks of every table.
func TestFill(t *testing.T) {
	text := "a\n<!-- table x -->\nold\n<!-- end x -->\nb\n"
	got, err := fill(text, map[string]string{"x": "new\n"})
	if want := "a\n<!-- table x -->\nnew\n<!-- end x -->\nb\n"; err != nil || got != want {
		t.Errorf("got %q, error %v; want %q", got, err, want)
	}
	if _, err := fill(text, map[string]string{"y": ""}); err == nil || !strings.Contains(err.Error(), "table y") {
		t.Errorf("without marks: got error %v", err)
	}
}
