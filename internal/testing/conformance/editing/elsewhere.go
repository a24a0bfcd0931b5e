// SPDX-License-Identifier: Apache-2.0

package editing

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// word is what a step of a path, an identifier or a part of a string is made of.
	word = regexp.MustCompile(`[A-Za-z0-9]+`)
	// begins matches the begin of a declaration of a file, and declares the names in it.
	begins   = regexp.MustCompile(`(?m)^(?:func|var|const|type) `)
	declares = regexp.MustCompile(`(?m)^(?:(?:func(?: \([^)]*\))?|var|const) (\w+)|\t(\w+)(?: [\w.*\[\]]+)? += )`)
	comment  = regexp.MustCompile(`(?m)^\s*(?://|#).*$`)
	script   = regexp.MustCompile(`"(testdata/[^"]*)"`)
)

// named returns an error if a test cannot edit a field. Either the test is in none of the files, or it does not name the steps of the
// path. What it calls and reads in the files, and what it plays of testdata, counts.
func named(path, test string, files ...string) error {
	declared := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := comment.ReplaceAllString(string(source), "")
		places := append(begins.FindAllStringIndex(text, -1), []int{len(text)})
		for i, place := range places[:len(places)-1] {
			part := text[place[0]:places[i+1][0]]
			for n, name := range declares.FindAllStringSubmatch(part, -1) {
				if n == 0 || !strings.HasPrefix(part, "func") {
					declared[name[1]+name[2]] += part
				}
			}
		}
	}
	if declared[test] == "" || !strings.HasPrefix(test, "Test") {
		return fmt.Errorf("there is no test %q", test)
	}
	words := map[string]bool{}
	reach(test, declared, words)
	for _, step := range word.FindAllString(path, -1) {
		if !words[strings.ToLower(step)] {
			return fmt.Errorf("%s does not name %s", test, step)
		}
	}
	return nil
}

// reach collects the words of what a declaration, and what it names, consists of, in lower case. What is reached is taken from those
// that are declared. What cannot be read of testdata names nothing.
func reach(name string, declared map[string]string, words map[string]bool) {
	text := declared[name]
	delete(declared, name)
	for _, played := range script.FindAllStringSubmatch(text, -1) {
		_ = filepath.WalkDir(played[1], func(path string, _ fs.DirEntry, _ error) error {
			played, _ := os.ReadFile(path)
			text += comment.ReplaceAllString(string(played), "")
			return nil
		})
	}
	for _, w := range word.FindAllString(text, -1) {
		words[strings.ToLower(w)] = true
		if declared[w] != "" {
			reach(w, declared, words)
		}
	}
}

// testFiles are those of the package under test, where tests run, but for those that check what histories edit.
func testFiles() (files []string, err error) {
	all, err := filepath.Glob("*_test.go")
	for _, file := range all {
		if file != "simulation_fields_test.go" {
			files = append(files, file)
		}
	}
	return files, err
}
