// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/availability"
	"github.com/podwright/podwright/distribution"
	manager "github.com/podwright/podwright/examples/manager/app"
	agent "github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/workloads"
)

func noEnv(string) string { return "" }

// table returns the rows of the first table of MIGRATION.md below a line that begins with some text, by their first cell.
func table(t *testing.T, after string) map[string][]string {
	t.Helper()
	_, text, found := strings.Cut(read(t, examples, "MIGRATION.md"), "\n"+after)
	_, text, isTable := strings.Cut(text, "|---|")
	if !found || !isTable {
		t.Fatalf("MIGRATION.md has no table below %q", after)
	}
	rows := map[string][]string{}
	for _, line := range strings.Split(text, "\n")[1:] {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		name := strings.Trim(cells[0], "`")
		if rows[name] != nil {
			t.Errorf("MIGRATION.md, %s: %s stands there twice", after, name)
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
	theirs, ours := table(t, "### Flags of the manager that OpenKruise has"), table(t, "### Flags of the manager that podwright alone has")
	if diff := cmp.Diff(defaults(config.AddFlags), last(theirs, ours)); diff != "" {
		t.Errorf("flags of the manager (-want +got):\n%s", diff)
	}
	for name := range ours {
		if theirs[name] != nil {
			t.Errorf("%s stands in both tables", name)
		}
	}
	agents := agent.NewConfig(noEnv)
	if diff := cmp.Diff(defaults(agents.AddFlags), last(table(t, "### Flags of the agent"))); diff != "" {
		t.Errorf("flags of the agent (-want +got):\n%s", diff)
	}
}

// TestGates wants all gates, with their defaults and stages, and no others.
func TestGates(t *testing.T) {
	gates, err := features.Parse("", "")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for name, spec := range gates.DeepCopy().GetAll() {
		if strings.HasPrefix(string(name), "All") {
			continue // AllAlpha and AllBeta are none themselves
		}
		value := map[bool]string{true: "on", false: "off"}[spec.Default]
		if len(features.WithoutEffect(string(name)+"=true")) > 0 {
			value = "no effect"
		}
		want[string(name)] = []string{value, strings.ToLower(string(spec.PreRelease))}
	}
	got := table(t, "## Feature gates")
	for name, row := range got {
		got[name] = row[1:] // without what OpenKruise has
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
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
	if got := table(t, "The CRDs have the names"); !maps.EqualFunc(want, got, slices.Equal) {
		t.Errorf("CRDs (-want +got):\n%s", cmp.Diff(want, got))
	}
}
