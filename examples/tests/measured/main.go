// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// page is the document whose tables the program fills.
const page = "MEASURED.md"

func main() {
	builds := flag.Bool("builds", false, "build the programs, count what packages import, and write that to a file of the day")
	flag.Parse()
	err := error(nil)
	if *builds {
		err = writeBuilds(filepath.Join("tests", "measured", "runs", time.Now().UTC().Format(time.DateOnly)+"-builds.jsonl"))
	}
	if err == nil {
		err = write(".")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes all that follows from the runs below a folder of the examples.
func write(examples string) error {
	files, err := render(examples)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(examples, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render returns the contents of all files that follow from the runs, by their names.
func render(examples string) (map[string][]byte, error) {
	d, err := read(filepath.Join(examples, "tests", "measured", "runs"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(examples, page))
	if err != nil {
		return nil, err
	}
	filled, err := fill(string(text), d.tables())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	files := map[string][]byte{page: []byte(filled)}
	for name, c := range d.charts() {
		if files[filepath.Join("tests", "measured", "charts", name+".svg")], err = svg(c); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// fill puts each table between its two marks.
func fill(text string, tables map[string]string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		begin, end := "<!-- table "+name+" -->\n", "<!-- end "+name+" -->\n"
		before, rest, found := strings.Cut(text, begin)
		_, after, ends := strings.Cut(rest, end)
		if !found || !ends {
			return "", fmt.Errorf("want the lines %q and %q", begin, end)
		}
		text = before + begin + tables[name] + end + after
	}
	return text, nil
}
