// SPDX-License-Identifier: Apache-2.0

// Command reseed writes into the tables of planted bugs by which seed a history finds each bug now. The tests search on from
// that seed, so they take longest when histories have changed.
//
//	go test -json -count=1 -run 'FindsBugs|FindBugs' ./workloads/... | reseed folder
//
// It reads the output of the tests, and changes test files below the folder, which is that of the module.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// event is a line of what "go test -json" prints.
type event struct{ Action, Package, Test, Output string }

var (
	found = regexp.MustCompile(`found by seed (\d+)`)
	// entry is a bug in a table: its name, what it breaks, and the seed to begin with.
	entry = regexp.MustCompile(`(?m)^(\s*(?:\{|plant\()"([^"]+)", \w+\.\w+, )(\d+)(,)`)
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -json ... | reseed folder")
		os.Exit(2)
	}
	seeds, err := read(os.Stdin)
	for folder, of := range seeds {
		if err == nil {
			err = reseed(filepath.Join(os.Args[1], folder), of)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read returns by the folder of a package and the name of a bug which seed finds it.
func read(output io.Reader) (map[string]map[string]string, error) {
	seeds := map[string]map[string]string{}
	for decoder := json.NewDecoder(bufio.NewReader(output)); ; {
		var e event
		if err := decoder.Decode(&e); err == io.EOF {
			return seeds, nil
		} else if err != nil {
			return nil, err
		}
		_, folder, _ := strings.Cut(strings.TrimPrefix(e.Package, "github.com/"), "/")
		_, folder, _ = strings.Cut(folder, "/")
		_, bug, ok := strings.Cut(e.Test, "/")
		if seed := found.FindStringSubmatch(e.Output); ok && seed != nil {
			if seeds[folder] == nil {
				seeds[folder] = map[string]string{}
			}
			seeds[folder][bug] = seed[1]
		}
	}
}

// reseed changes the test files of a folder.
func reseed(folder string, seeds map[string]string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if after := replace(string(before), seeds); after != string(before) {
			if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace returns the source of a test with the seeds of the bugs that it names. Tests name a bug with underscores for spaces.
func replace(source string, seeds map[string]string) string {
	return entry.ReplaceAllStringFunc(source, func(bug string) string {
		part := entry.FindStringSubmatch(bug)
		if seed, ok := seeds[strings.ReplaceAll(part[2], " ", "_")]; ok {
			return part[1] + seed + part[4]
		}
		return bug
	})
}
