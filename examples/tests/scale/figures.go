// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// figure is one line of the table. Its value does not depend on the machine if it counts bytes, reconciles or requests.
type figure struct {
	name  string
	value float64
	unit  string
}

// figures are what was measured, in the order in which it was.
type figures []figure

func (f *figures) add(unit string, value float64, format string, of ...any) {
	*f = append(*f, figure{fmt.Sprintf(format, of...), value, unit})
}

// lasted adds a time.
func (f *figures) lasted(took time.Duration, format string, of ...any) {
	f.add("s", took.Seconds(), format, of...)
}

func (f figures) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range f {
		fmt.Fprintf(t, "%s\t%.4g\t%s\n", line.name, line.value, line.unit)
	}
	_ = t.Flush() // to a terminal or a file: who reads it sees that it ends early
}

// percentile returns the time that so many of a hundred did not exceed.
func percentile(times []time.Duration, of int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[min(len(sorted)-1, len(sorted)*of/100)]
}
