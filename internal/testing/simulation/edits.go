// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Edited is an object of the kind that a history is about, before and after users changed it.
type Edited struct{ Before, After Object }

// usersPause is after how many moves of users everybody else acts undisturbed, so that there are pods to act upon.
const usersPause = 50

// Edits plays so many moves of the users of a seed, drawn as in its histories, and little besides. It returns what they
// changed about the objects of the kind. Nothing is judged.
func Edits(t *testing.T, w *Subject, seed uint64, moves int) (all []Edited) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(w, &outcome{Seed: seed, Steps: moves})
		for _, k := range h.kinds {
			k.judge = Judge{Write: func(*invariants.Write) []invariants.Violation { return nil }}
		}
		defer h.stop()
		err := h.begin()
		for h.step = 1; h.step <= moves && err == nil; h.step++ {
			var edits []Edited
			edits, err = h.edit()
			all = append(all, edits...)
		}
		if err != nil {
			t.Errorf("seed %d, move %d: %v", seed, h.step, err)
		}
	})
	return all
}

// edit has users make one move, and returns what they changed.
func (h *history) edit() (edits []Edited, err error) {
	record := h.records[h.workload.Resource.Name]
	if h.step%usersPause == 0 {
		time.Sleep(time.Minute)
		if err := h.calm(h.random(h.step)); err != nil {
			return nil, err
		}
	}
	from := len(record.changes)
	if err := h.actUser(h.random(h.step)); err != nil {
		return nil, err
	}
	for _, c := range record.changes[from:] {
		if c.before != nil && !c.gone {
			edits = append(edits, Edited{c.before, c.object})
		}
	}
	return edits, nil
}

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
