// SPDX-License-Identifier: Apache-2.0

package patches

import "strings"

// Phrases are the words that a line of a script has between semicolons, each with its value behind a blank: "unready 5; phase Recreating".
func Phrases(text string) (words []string) {
	for phrase := range strings.SplitSeq(text, "; ") {
		if word, value, valued := strings.Cut(phrase, " "); valued {
			phrase = word + "=" + value
		}
		if phrase != "" {
			words = append(words, phrase)
		}
	}
	return words
}
