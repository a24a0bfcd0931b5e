// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"strings"
)

// shown is how many names are listed of those that are too many.
const shown = 20

// kept is which names may be left without a user.
type kept struct {
	limit   int
	reasons []reason
	data    []reason // of types of which a program is handed values
}

// reason says why the names of a pattern are left.
type reason struct {
	pattern string
	line    int
}

// readKept reads the limit and the reasons.
func readKept(text string) (k kept, err error) {
	for i, line := range strings.Split(text, "\n") {
		pattern, why, _ := strings.Cut(line, "\t")
		pattern, isData := strings.CutPrefix(pattern, "data ")
		_, bad := path.Match(pattern, "")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case k.limit == 0:
			if _, err := fmt.Sscanf(line, "%d names at most", &k.limit); err != nil || k.limit < 1 {
				return k, fmt.Errorf("line %d: want a number and %q, found %q", i+1, "names at most", line)
			}
		case bad != nil || strings.TrimSpace(why) == "":
			return k, fmt.Errorf("line %d: want names, a tab and a reason, found %q", i+1, line)
		case isData:
			k.data = append(k.data, reason{pattern, i + 1})
		default:
			k.reasons = append(k.reasons, reason{pattern, i + 1})
		}
	}
	return k, nil
}

// problems returns what is wrong with names that no other package uses.
func (k kept) problems(file string, names []name) (problems []string) {
	matches := make([]bool, len(k.reasons))
	for _, n := range names {
		told := false
		for i, r := range k.reasons {
			if match(r.pattern, n.text) {
				told, matches[i] = true, true
			}
		}
		if !told {
			problems = append(problems, fmt.Sprintf("%s: %s is exported, and no other package uses it: unexport it, show it in an Example, or give the reason in %s", n.at, n.text, file))
		}
	}
	if more := len(problems) - shown; more > 0 {
		problems = append(problems[:shown], fmt.Sprintf("and %d more", more))
	}
	for i, r := range k.reasons {
		if !matches[i] {
			problems = append(problems, fmt.Sprintf("%s:%d: %s has users, or is gone: delete the line", file, r.line, r.pattern))
		}
	}
	if len(names) > k.limit {
		problems = append(problems, fmt.Sprintf("%d exported names have no user in another package, and %d may", len(names), k.limit))
	}
	return problems
}
