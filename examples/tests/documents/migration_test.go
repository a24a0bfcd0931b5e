// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	manager "github.com/podwright/podwright/examples/manager/app"
	agent "github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

// The documents with tables.
const (
	migration = "MIGRATION.md"
	rules     = "manager/RULES.md"
)

func noEnv(string) string { return "" }

var rewrite = flag.Bool("rewrite", false, "add the flags and the CRDs that MIGRATION.md lacks")

// withRows returns a text with further rows, by their first cells. They stand at the end of the first table below a line that begins
// with after.
func withRows(text, after string, rows map[string][]string) string {
	at := strings.Index(text, "\n"+after)
	begin := at + strings.Index(text[at:], "|---|")
	end := begin + strings.Index(text[begin:]+"\n\n", "\n\n")
	more := ""
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		more += "\n| `" + name + "` | " + strings.Join(rows[name], " | ") + " |"
	}
	return text[:end] + more + text[end:]
}

// add adds rows to MIGRATION.md.
func add(t *testing.T, after string, rows map[string][]string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(examples, migration), []byte(withRows(read(t, examples, migration), after, rows)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWithRows(t *testing.T) {
	const text = "# A\n\n## B\n\n| a | b |\n|---|---|\n| `x` | 1 |\n\n## C\n\n| a | b |\n|---|---|\n| `y` | 2 |\n"
	want := "# A\n\n## B\n\n| a | b |\n|---|---|\n| `x` | 1 |\n| `u` | 3 |\n| `v` | 4 |\n\n## C\n\n| a | b |\n|---|---|\n| `y` | 2 |\n"
	if diff := cmp.Diff(want, withRows(text, "## B", map[string][]string{"v": {"4"}, "u": {"3"}})); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// table returns the rows of the first table of a document below a line that begins with some text, by their first cell.
func table(t *testing.T, document, after string) map[string][]string {
	t.Helper()
	_, text, found := strings.Cut(read(t, examples, document), "\n"+after)
	_, text, isTable := strings.Cut(text, "|---|")
	if !found || !isTable {
		t.Fatalf("%s has no table below %q", document, after)
	}
	rows := map[string][]string{}
	for _, line := range strings.Split(text, "\n")[1:] {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		name := strings.Trim(cells[0], "`")
		if rows[name] != nil {
			t.Errorf("%s, %s: %s stands there twice", document, after, name)
		}
		rows[name] = cells[1:]
	}
	return rows
}

// defaults returns what the last cell of each flag has to say.
func defaults(add func(*pflag.FlagSet)) map[string]string {
	flags, all := pflag.NewFlagSet("", pflag.ContinueOnError), map[string]string{}
	add(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		switch {
		case f.Deprecated != "":
			all["--"+f.Name] = "no effect"
		case f.DefValue == "" || f.DefValue == "[]":
			all["--"+f.Name] = "none"
		default:
			all["--"+f.Name] = "`" + f.DefValue + "`"
		}
	})
	return all
}

// last returns the last cells.
func last(rows ...map[string][]string) map[string]string {
	cells := map[string]string{}
	for _, some := range rows {
		for name, row := range some {
			cells[name] = row[len(row)-1]
		}
	}
	return cells
}

// TestFlags wants all flags of the programs, with their defaults, and no others.
func TestFlags(t *testing.T) {
	config, err := manager.NewConfig(noEnv)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := table(t, migration, "### Flags of the manager that OpenKruise has"), table(t, migration, "### Flags of the manager that podwright alone has")
	if *rewrite {
		missing := map[string][]string{}
		for name, value := range defaults(config.AddFlags) {
			if theirs[name] == nil && ours[name] == nil {
				missing[name] = []string{value}
			}
		}
		add(t, "### Flags of the manager that podwright alone has", missing)
		ours = table(t, migration, "### Flags of the manager that podwright alone has")
	}
	if diff := cmp.Diff(defaults(config.AddFlags), last(theirs, ours)); diff != "" {
		t.Errorf("flags of the manager (-want +got):\n%s", diff)
	}
	for name := range ours {
		if theirs[name] != nil {
			t.Errorf("%s stands in both tables", name)
		}
	}
	agents := agent.NewConfig(noEnv)
	if diff := cmp.Diff(defaults(agents.AddFlags), last(table(t, migration, "### Flags of the agent"))); diff != "" {
		t.Errorf("flags of the agent (-want +got):\n%s", diff)
	}
}

// TestGates wants all gates, with their defaults and stages in each release, and no others. (PF-1)
func TestGates(t *testing.T) {
	moved, ruled := map[string][]string{}, map[string][]string{}
	for _, release := range []podwright.Release{podwright.Release14, podwright.Release19} {
		gates, err := features.Flags{Release: release}.Parse()
		if err != nil {
			t.Fatal(err)
		}
		for feature, spec := range gates.All() {
			name := string(feature)
			value, stage := map[bool]string{true: "on", false: "off"}[spec.Default], strings.ToLower(string(spec.Stage))
			if len(features.Flags{Gates: name + "=true"}.WithoutEffect()) > 0 {
				value = "no effect"
			}
			moved[name] = append(moved[name], value, stage)
			if ruled[name] = append(ruled[name], fmt.Sprint(spec.Default), stage); release == podwright.Release19 {
				ruled[name] = append(ruled[name][:2], strings.Join(ruled[name][2:], ", "))
			}
		}
	}
	got := table(t, migration, "## Feature gates")
	for name, row := range got {
		got[name] = slices.Concat(row[1:3], row[4:]) // without what OpenKruise has
	}
	if diff := cmp.Diff(moved, got); diff != "" {
		t.Errorf("%s: gates (-want +got):\n%s", migration, diff)
	}
	got = table(t, rules, "**PF-1**")
	for name, row := range got {
		got[name] = row[:3] // without what it switches
	}
	if diff := cmp.Diff(ruled, got); diff != "" {
		t.Errorf("%s: gates (-want +got):\n%s", rules, diff)
	}
}

// TestDefinitions wants all CRDs, with the versions that are served and the one that is stored, and no others.
func TestDefinitions(t *testing.T) {
	want := map[string][]string{}
	for _, crd := range slices.Concat(workloads.CRDs(), distribution.CRDs(), lifecycle.CRDs(), sidecar.CRDs(), availability.CRDs()) {
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if err != nil {
			t.Fatal(err)
		}
		var served []string
		stored := ""
		for _, item := range versions {
			version := item.(map[string]any)
			if version["served"] == true {
				served = append(served, version["name"].(string))
			}
			if version["storage"] == true {
				stored = version["name"].(string)
			}
		}
		want[crd.GetName()] = []string{strings.Join(served, ", "), stored}
	}
	if *rewrite {
		missing := maps.Clone(want)
		for name := range table(t, migration, "The CRDs have the names") {
			delete(missing, name)
		}
		add(t, "The CRDs have the names", missing)
	}
	if got := table(t, migration, "The CRDs have the names"); !maps.EqualFunc(want, got, slices.Equal) {
		t.Errorf("CRDs (-want +got):\n%s", cmp.Diff(want, got))
	}
}
