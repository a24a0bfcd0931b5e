// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// userFile has what users of the histories of a package change.
const userFile = "testdata/users.txt"

// lists are the lines of a list in userFile, by its name. Lines that are blank or begin with # say nothing.
var lists = sync.OnceValue(func() map[string][]string {
	data, err := os.ReadFile(userFile)
	if err != nil {
		panic(err)
	}
	all, list := map[string][]string{}, ""
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			list = strings.Trim(line, "[]")
		default:
			all[list] = append(all[list], line)
		}
	}
	return all
})

// list returns a list, of which each entry is a line, and those that begin with a mark after it.
func list(name, mark string) (entries [][]string) {
	for _, line := range lists()[name] {
		if rest, more := strings.CutPrefix(line, mark+" "); more {
			last := len(entries) - 1
			entries[last] = append(entries[last], rest)
			continue
		}
		entries = append(entries, []string{line})
	}
	if len(entries) == 0 {
		panic(fmt.Sprintf("%s has no list [%s]", userFile, name))
	}
	return entries
}

// ReadEdits returns a list of edits from testdata/users.txt. An entry is what Pick takes: a format, "<-" and values, between which
// stands "|". Values may stand on lines of their own, behind a "|" each.
func ReadEdits(name string) (edits []Edit) {
	for _, entry := range list(name, "|") {
		format, values, _ := strings.Cut(entry[0], " <-")
		all := []any{}
		for _, text := range append([]string{values}, entry[1:]...) {
			for value := range strings.SplitSeq(text, " | ") {
				if value = strings.TrimSpace(value); value != "" {
					all = append(all, value)
				}
			}
		}
		edits = append(edits, Pick(format, all...))
	}
	return edits
}

// ReadMistakes returns a list of mistakes from testdata/users.txt. Behind each patch stands, with "=>", the one that takes it back.
func ReadMistakes(name string) (mistakes []Mistake) {
	for _, entry := range list(name, "=>") {
		mistakes = append(mistakes, Mistake{entry[0], entry[1]})
	}
	return mistakes
}
