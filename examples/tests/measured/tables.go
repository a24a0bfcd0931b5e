// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// data are the runs that charts and tables are made of.
type data struct {
	podwright, floor, kruise run // side by side, on one day
	before                   struct{ podwright, kruise run }
	plans                    []plan
	builds                   []build
}

// read reads the newest runs.
func read(folder string) (d data, err error) {
	for name, into := range map[string]*run{
		"2026-11-27-podwright.jsonl": &d.podwright, "2026-11-27-floor.jsonl": &d.floor, "2026-11-27-kruise-manager-1.4.jsonl": &d.kruise,
		"2026-11-22-podwright.jsonl": &d.before.podwright, "2026-11-22-kruise-manager-1.4.jsonl": &d.before.kruise,
	} {
		if *into, err = readRun(folder, name); err != nil {
			return d, err
		}
	}
	if d.plans, err = readPlans(folder, "2026-11-29-plans.txt"); err != nil {
		return d, err
	}
	d.builds, err = readBuilds(folder, "2026-11-27-builds.jsonl")
	return d, err
}

// charts returns all pictures, by the names of their files.
func (d data) charts() map[string]chart {
	sides := []string{"podwright", "the floor", "kruise-manager 1.4"}
	byPhase := func(title, unit string, decimals int, number func(phase) value) chart {
		c := chart{Title: title, Unit: unit, Series: sides, Decimals: decimals}
		for _, p := range phases {
			c.Groups = append(c.Groups, group{p.text, []value{number(d.podwright[p.name]), number(d.floor[p.name]), number(d.kruise[p.name])}})
		}
		return c
	}
	all := map[string]chart{
		"requests": byPhase("Requests to the API server for each pod", "requests", 2, func(p phase) value { n, counted := p.requests(); return value{n, counted} }),
		"cpu":      byPhase("CPU time of the manager for each pod", "ms", 2, func(p phase) value { return of(p.cpu()) }),
		"wall":     byPhase("Wall time of a phase, 2,000 pods", "s", 1, func(p phase) value { return of(p.Wall) }),
		"memory": {Title: "Peak memory of the manager, 2,000 pods", Unit: "MB", Series: sides,
			Groups: []group{{"resident set", []value{of(d.podwright.peak()), of(d.floor.peak()), of(d.kruise.peak())}}}},
	}
	plans := chart{Title: "Time of a plan for each pod of the CloneSet", Unit: "µs", Decimals: 2}
	for _, p := range d.plans {
		if !slices.Contains(plans.Series, p.What) {
			plans.Series = append(plans.Series, p.What)
		}
	}
	for _, size := range d.sizes() {
		g := group{thousands(size) + " pods", nil}
		for _, what := range plans.Series {
			g.Values = append(g.Values, of(d.plan(what, size).Nanoseconds/1000/float64(size)))
		}
		plans.Groups = append(plans.Groups, g)
	}
	all["plans"] = plans
	binaries := chart{Title: "Size of the programs, linux/amd64", Unit: "MB", Series: []string{"make build"}, Decimals: 1}
	imports := chart{Title: "Packages beyond the standard library that an import brings", Unit: "packages", Series: []string{"with itself"}}
	for _, b := range d.builds {
		if b.Program != "" {
			binaries.Groups = append(binaries.Groups, group{b.Program, []value{of(float64(b.Bytes) / 1e6)}})
		} else {
			imports.Groups = append(imports.Groups, group{b.Package, []value{of(float64(b.Packages))}})
		}
	}
	all["binaries"], all["imports"] = binaries, imports
	return all
}

// sizes returns the numbers of pods that there are plans for.
func (d data) sizes() (all []int) {
	for _, p := range d.plans {
		all = append(all, p.Pods)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// plan returns what was measured; zero if nothing was.
func (d data) plan(what string, pods int) plan {
	if i := slices.IndexFunc(d.plans, func(p plan) bool { return p.What == what && p.Pods == pods }); i >= 0 {
		return d.plans[i]
	}
	return plan{}
}

// tables returns what stands between the marks of a name in MEASURED.md.
func (d data) tables() map[string]string {
	return map[string]string{
		"2026-11-27": sideBySide(d.podwright, d.kruise, d.floor),
		"2026-11-22": sideBySide(d.before.podwright, d.before.kruise, nil),
		"plans":      d.planTable(), "builds": d.buildTable(),
	}
}

// sideBySide compares two managers, and the floor if there is one.
func sideBySide(ours, theirs, floor run) string {
	rows := [][]string{{"Phase", "Requests per pod", "CPU per pod", "Wall time"}}
	for _, p := range phases {
		ours, theirs := ours[p.name], theirs[p.name]
		n, _ := ours.requests()
		m, _ := theirs.requests()
		row := []string{p.text, fmt.Sprintf("%.2f / %.2f", n, m), fmt.Sprintf("%.2f / %.2f ms", ours.cpu(), theirs.cpu()), fmt.Sprintf("%.1f / %.1f s", ours.Wall, theirs.Wall)}
		if floor != nil {
			row[2] = fmt.Sprintf("%.2f / %.2f / %.2f ms", ours.cpu(), floor[p.name].cpu(), theirs.cpu())
			row[3] = fmt.Sprintf("%.1f / %.1f / %.1f s", ours.Wall, floor[p.name].Wall, theirs.Wall)
		}
		rows = append(rows, row)
	}
	memory := fmt.Sprintf("%.0f / %.0f MB", ours.peak(), theirs.peak())
	if floor != nil {
		memory = fmt.Sprintf("%.0f / %.0f / %.0f MB", ours.peak(), floor.peak(), theirs.peak())
	}
	return table(rows) + "\nPeak memory: " + memory + ".\n"
}

func (d data) planTable() string {
	rows := [][]string{{"Pods", "What is to do", "Time of a plan", "Allocated", "Allocations"}}
	words := map[string]string{"settled": "nothing", "update": "a fifth is updated in place", "scale-in": "half of them go"}
	for _, size := range d.sizes() {
		for _, what := range []string{"settled", "scale-in", "update"} {
			p := d.plan(what, size)
			rows = append(rows, []string{thousands(size), words[what], duration(p.Nanoseconds), fmt.Sprintf("%.0f KiB", float64(p.Bytes)/1024), thousands(p.Allocations)})
		}
	}
	return table(rows)
}

func (d data) buildTable() string {
	rows := [][]string{{"What", "Size", "How"}}
	for _, b := range d.builds {
		size := fmt.Sprintf("%.1f MB", float64(b.Bytes)/1e6)
		if b.Package != "" {
			size = fmt.Sprintf("%d packages", b.Packages)
		}
		rows = append(rows, []string{"`" + cmp.Or(b.Program, b.Package) + "`", size, b.Note})
	}
	return table(rows)
}

// table writes rows in Markdown, the first one as the heading.
func table(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			out.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	return out.String()
}

// duration writes nanoseconds as a reader takes them in.
func duration(nanoseconds float64) string {
	if nanoseconds < 1e6 {
		return fmt.Sprintf("%.0f µs", nanoseconds/1e3)
	}
	return fmt.Sprintf("%.1f ms", nanoseconds/1e6)
}

// thousands writes a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
