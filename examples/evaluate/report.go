package main

import (
	"fmt"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/examples/evaluate/history"
)

// report says what was checked. It returns errChecks where a check failed.
func (d *demo) report(o *outcome) error {
	lines := []display.Line{{}, {Text: "Checked with the API server:", Style: display.Title}}
	for _, check := range o.checks {
		lines = append(lines, checkLine(check))
	}
	took := o.first + o.second
	lines = append(lines, display.Line{}, display.Line{Text: fmt.Sprintf("The update took %.1f s: %.1f s for the first half, %.1f s for the second.",
		took.Seconds(), o.first.Seconds(), o.second.Seconds())})
	d.screen.Print(lines...)
	for _, check := range o.checks {
		if !check.OK {
			return errChecks
		}
	}
	return nil
}

func checkLine(c history.Check) display.Line {
	if c.OK {
		return display.Line{Text: "  ok      " + c.Text, Style: display.Good}
	}
	return display.Line{Text: "  FAILED  " + c.Text, Style: display.Bad}
}
