package main

import (
	"fmt"
	"strings"

	"github.com/podwright/podwright/examples/evaluate/display"
	"github.com/podwright/podwright/examples/evaluate/history"
)

// report says what was checked. It returns errChecks where a check failed.
func (d *demo) report(o *outcome) (err error) {
	var lines []display.Line
	for _, act := range o.acts {
		lines = append(lines, display.Line{}, display.Line{Text: act.name + ", checked with the API server:", Style: display.Title})
		for _, check := range act.checks {
			lines = append(lines, checkLine(check))
			if !check.OK {
				err = errChecks
			}
		}
	}
	d.screen.Print(append(lines, display.Line{}, display.Line{Text: times(o.laps)})...)
	return err
}

// times says what took how long.
func times(laps []lap) string {
	var parts []string
	for _, l := range laps {
		parts = append(parts, fmt.Sprintf("%.1f s %s", l.took.Seconds(), l.task))
	}
	return "It took " + strings.Join(parts, ", ") + "."
}

func checkLine(c history.Check) display.Line {
	if c.OK {
		return display.Line{Text: "  ok      " + c.Text, Style: display.Good}
	}
	return display.Line{Text: "  FAILED  " + c.Text, Style: display.Bad}
}
