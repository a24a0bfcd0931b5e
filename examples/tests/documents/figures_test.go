// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const measured = "examples/MEASURED.md"

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	// version is a number that says which release something is.
	version = regexp.MustCompile(`(?:Kubernetes|OpenKruise|Go|License|API servers from) \d+(?:\.\d+)*(?: to \d+\.\d+\b)?|\bv\d+(?:\.\d+)+|\bv\d(?:alpha|beta)\d`)
	// figure is a number with the word behind it; or a number in words that counts what is measured.
	figure = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?(?: ?(?:%|[A-Za-zµ]+))?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|half an?) (?:milliseconds?|seconds?|minutes?|hours?|requests?|writes?|MB|GB)\b`)
)

// prose returns the paragraphs of a document, items of lists and cells of tables alike, without code, targets of links and comments.
func prose(text string) (all []string) {
	text = comment.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
	text = regexp.MustCompile(`(?m)^(?:#+ .*|\|[-|]+\|)$`).ReplaceAllString(text, "")
	item := regexp.MustCompile(`^(?:[-*]|\d+\.) `)
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			all = append(all, strings.Join(paragraph, " "))
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimSpace(line)
		switch {
		case words == "":
			end()
		case strings.HasPrefix(line, "    ") && paragraph == nil: // code
		case strings.HasPrefix(words, "|"):
			all = append(all, strings.Split(strings.Trim(words, "| "), " | ")...)
		case item.MatchString(words):
			end()
			paragraph = []string{item.ReplaceAllString(words, "")}
		default:
			paragraph = append(paragraph, words)
		}
	}
	end()
	return all
}

// plain returns a paragraph with a word in place of code, and the texts of links.
func plain(paragraph string) string {
	return strings.ReplaceAll(link.ReplaceAllString(inline.ReplaceAllString(paragraph, "CODE"), "$1"), "**", "")
}

// figures returns what a paragraph states in numbers, but versions.
func figures(paragraph string) []string {
	return figure.FindAllString(version.ReplaceAllString(plain(paragraph), ""), -1)
}

// TestFigures wants each figure of README on the page of what was measured, to which the paragraph leads.
func TestFigures(t *testing.T) {
	var page strings.Builder
	for _, paragraph := range prose(read(t, repository, measured)) {
		page.WriteString(plain(paragraph) + "\n")
	}
	n := 0
	for _, paragraph := range prose(read(t, repository, "README.md")) {
		all := figures(paragraph)
		for n += len(all); len(all) > 0; all = all[1:] {
			if !strings.Contains(page.String(), all[0]) {
				t.Errorf("README.md: %s does not state %q, which stands in: %s", measured, all[0], paragraph)
			}
			if !strings.Contains(paragraph, "]("+measured+")") {
				t.Errorf("README.md: no link to %s beside the figure %q in: %s", measured, all[0], paragraph)
			}
		}
	}
	if n == 0 {
		t.Error("README.md states no figure: does this test see them?")
	}
}

// TestFiguresAreSeen shows what counts as a figure.
func TestFiguresAreSeen(t *testing.T) {
	for paragraph, want := range map[string][]string{
		"A pod costs 2 writes, and 85 MB.": {"2 writes", "85 MB"}, "It takes 1.48 ms or 20 %.": {"1.48 ms", "20 %"}, "about ten minutes": {"ten minutes"}, "at most 75 packages": {"75 packages"},
		"OpenKruise 1.4 to 1.9 on Kubernetes 1.30, with Go 1.26, v0.36 and v1alpha1": nil, "ten pods in `make test N=3` and [a](b7)": nil, "1,000 namespaces": {"1,000 namespaces"},
	} {
		if diff := cmp.Diff(want, figures(paragraph)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", paragraph, diff)
		}
	}
}

// TestMeasured wants the day of each measurement: one in each part of the page that has numbers.
func TestMeasured(t *testing.T) {
	parts := strings.Split(read(t, repository, measured), "\n## ")
	for _, part := range parts[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		if !regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`).MatchString(body) {
			t.Errorf("%s: %s has no date", measured, heading)
		}
		if len(commandsOf(body)) == 0 {
			t.Errorf("%s: %s names no command", measured, heading)
		}
	}
}
