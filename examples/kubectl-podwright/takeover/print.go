// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"cmp"
	"fmt"
	"io"

	"k8s.io/cli-runtime/pkg/printers"
)

// Print prints a report as a table.
func (r *Report) Print(out io.Writer) error {
	if r.OpenKruise == "" {
		_, err := fmt.Fprintf(out, "There is no OpenKruise to take over: %s.\n", r.By)
		return err
	}
	fmt.Fprintf(out, "OpenKruise %s, %s.\n", r.OpenKruise, r.By)
	if len(r.Findings) == 0 {
		_, err := fmt.Fprintln(out, "Nothing stands in the way, and nothing is changed.")
		return err
	}
	table := printers.GetNewTabWriter(out)
	fmt.Fprintln(table, "STATE\tOBJECT\tRULE\tFINDING\tDO")
	for _, f := range r.Findings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", f.Severity, f.Object, f.Rule, f.Says, cmp.Or(f.Do, "-"))
	}
	return table.Flush()
}
