// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
)

// ReadEquivalents reads the mutants that change nothing: the reasons, by the key of the mutant. The empty name means no file.
//
// A paragraph names one: a line with package and function, a line with the change, and then the reason. A paragraph that begins
// with "#" is a comment.
func readEquivalents(file string) (map[string]string, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseEquivalents(string(text))
}

func parseEquivalents(text string) (map[string]string, error) {
	known := map[string]string{}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		if paragraph == "" || strings.HasPrefix(paragraph, "#") {
			continue
		}
		lines := strings.SplitN(paragraph, "\n", 3)
		if len(lines) < 3 {
			return nil, fmt.Errorf("equivalents: want package and function, the change, and the reason, each in a line of its own; found:\n%s", paragraph)
		}
		key := lines[0] + "\n" + lines[1]
		if _, ok := known[key]; ok {
			return nil, fmt.Errorf("equivalents: this stands twice, remove one:\n%s", key)
		}
		known[key] = oneLine(lines[2])
	}
	return known, nil
}
