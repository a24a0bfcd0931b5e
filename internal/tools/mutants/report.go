// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// A tally counts what became of the mutants of a package.
type tally struct {
	pkg                                string
	killed, late, survived, equivalent int
	survivors                          []mutant
}

func (t tally) planted() int { return t.killed + t.late + t.survived + t.equivalent }

// Add counts a mutant. One that does not compile was never planted.
func (t *tally) add(o outcome, m mutant) {
	switch o {
	case killed:
		t.killed++
	case late:
		t.late++
	case equivalent:
		t.equivalent++
	case survived:
		t.survived++
		t.survivors = append(t.survivors, m)
	}
}

// A report has a tally of each package.
type report []tally

func (r report) total() tally {
	sum := tally{pkg: "all"}
	for _, t := range r {
		sum.killed += t.killed
		sum.late += t.late
		sum.survived += t.survived
		sum.equivalent += t.equivalent
	}
	return sum
}

// String prints a table by package, and the survivors.
func (r report) String() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tplanted\tkilled\ttimed out\tequivalent\tsurvived")
	for _, t := range append(r[:len(r):len(r)], r.total()) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\n", t.pkg, t.planted(), t.killed, t.late, t.equivalent, t.survived)
	}
	table.Flush()
	for _, t := range r {
		for _, m := range t.survivors {
			fmt.Fprintf(&out, "\n%s/%s:%d\n%s\n", m.pkg, m.file, m.line, m.key())
		}
	}
	return out.String()
}
