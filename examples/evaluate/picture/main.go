// SPDX-License-Identifier: Apache-2.0

// Command picture keeps what a run of the demo printed, and draws it, for README:
//
//	go run ./evaluate --exit | go run ./evaluate/picture
//
// It writes evaluate/recorded.txt and, of its most telling lines, evaluate/recorded.svg.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"text/template"
)

// The files of a run.
const text, picture = "evaluate/recorded.txt", "evaluate/recorded.svg"

func main() {
	if err := record(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// record writes what a run printed, and its picture.
func record(run io.Reader) error {
	printed, err := io.ReadAll(run)
	if err != nil {
		return err
	}
	drawn, err := draw(string(printed))
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(text, printed, 0o644), os.WriteFile(picture, drawn, 0o644))
}

// step is a line that says how long a step took, and shown the step whose table is drawn.
var (
	step  = regexp.MustCompile(`^ *\d+\.\d s  `)
	shown = regexp.MustCompile(`^ *\d+\.\d s  .*partition 50%`)
	done  = regexp.MustCompile(`busybox:1\.37 +ready|^  ok  `)
)

// telling returns the lines of a run that are drawn: all but the tables and plans of the other steps.
func telling(printed string) (lines []string, err error) {
	table, checks := false, false
	for line := range strings.Lines(printed) {
		line = strings.TrimRight(line, "\n")
		switch {
		case step.MatchString(line):
			table = shown.MatchString(line)
		case strings.HasSuffix(line, ", checked with the API server:"):
			checks = true
		case strings.HasPrefix(line, "  FAILED  "):
			return nil, fmt.Errorf("the run has failed: %s", line)
		case !table && !checks && len(lines) > 1 && !strings.HasPrefix(line, "     "):
			continue
		}
		lines = append(lines, line)
	}
	if !checks {
		return nil, errors.New("want what the demo prints with --exit: nothing was checked")
	}
	return lines, nil
}

//go:embed picture.svg.tmpl
var source string

var page = template.Must(template.New("picture").Parse(source))

// row is a line of text in the picture.
type row struct {
	Y           int
	Text, Color string
}

// draw returns a picture of a terminal.
func draw(printed string) ([]byte, error) {
	lines, err := telling(printed)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, line := range lines {
		r := row{Y: 30 + 17*i, Text: line, Color: "#c9d1d9"}
		switch {
		case done.MatchString(line):
			r.Color = "#3fb950"
		case i == 0 || strings.HasSuffix(line, ":"):
			r.Color = "#ffffff"
		}
		rows = append(rows, r)
	}
	var out bytes.Buffer
	err = page.Execute(&out, map[string]any{"Rows": rows, "Height": 30 + 17*len(rows)})
	return out.Bytes(), err
}
