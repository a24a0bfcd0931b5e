// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// longest is how many words a sentence has at most.
const longest = 25

var (
	sentenceEnd = regexp.MustCompile(`[.!?]["”)]*\s+`)
	// citation is what stands in brackets behind a statement: rules, and links to their tests.
	citation = regexp.MustCompile(`\((?:[A-Z]{2,3}-[^()\[\]]*;? ?|\[[^\]]*\]\([^)]*\)(?:,\s*)?|, )+\)`)
	// vague are words that leave open who acts, or when.
	vague = regexp.MustCompile(`(?i)\b(?:nobody|whoever|somebody|of these|as it is|where)\b`)
)

// sentences returns those of a paragraph.
func sentences(paragraph string) (all []string) {
	text := plain(citation.ReplaceAllString(paragraph, ""))
	for {
		end := sentenceEnd.FindStringIndex(text)
		if end == nil {
			return append(all, strings.TrimSpace(text))
		}
		all, text = append(all, strings.TrimSpace(text[:end[1]])), text[end[1]:]
	}
}

// words counts those of a sentence.
func words(sentence string) (n int) {
	for _, word := range strings.Fields(sentence) {
		if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n++
		}
	}
	return n
}

// wrong says what a reader would stumble over in a sentence; empty if there is nothing.
func wrong(sentence string) string {
	if n := words(sentence); n > longest {
		return "too long"
	}
	if word := vague.FindString(sentence); word != "" && !strings.HasSuffix(sentence, "?") && !cited.MatchString(sentence) {
		return "vague: " + word
	}
	return ""
}

// tour returns the comment of the root package as a document.
func tour(t *testing.T) string {
	text, _, _ := strings.Cut(read(t, repository, "doc.go"), "\npackage podwright\n")
	_, text, _ = strings.Cut(text, "\n\n")
	text = regexp.MustCompile(`(?m)^// {2,}- `).ReplaceAllString(text, "- ")
	text = regexp.MustCompile(`(?m)^//\t`).ReplaceAllString(text, "    ")
	return regexp.MustCompile(`(?m)^// ?`).ReplaceAllString(text, "")
}

// TestSentences wants sentences that one reads once.
func TestSentences(t *testing.T) {
	texts := map[string]string{"doc.go": tour(t)}
	for _, document := range written {
		texts[document] = read(t, repository, document)
	}
	for document, text := range texts {
		paragraphs := prose(text)
		if len(paragraphs) < 10 {
			t.Errorf("%s has %d paragraphs", document, len(paragraphs))
		}
		for _, paragraph := range paragraphs {
			for _, sentence := range sentences(paragraph) {
				if problem := wrong(sentence); problem != "" {
					t.Errorf("%s: %s (%d words, at most %d): %s", document, problem, words(sentence), longest, sentence)
				}
			}
		}
	}
}

// TestWrong shows what readers stumble over.
func TestWrong(t *testing.T) {
	long := strings.Repeat("word ", longest)
	for sentence, want := range map[string]string{
		"The kubelet pulls the image.": "", long: "", long + "more": "too long", "It waits where nobody acts.": "vague: where", "Where does a pod go?": "",
		"Whoever reads this.": "vague: Whoever", "TestPlan: DS-5: but not if the partition holds the node back": "",
	} {
		if got := wrong(strings.TrimSpace(sentence)); got != want {
			t.Errorf("%s: got %q, want %q", sentence, got, want)
		}
	}
	got := sentences("One is `a. B`. **Two** ([x. y](z)) is (CS-1; [TestA: b. c](d)) here! Three")
	if diff := cmp.Diff([]string{"One is CODE.", "Two  is  here!", "Three"}, got); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
}
