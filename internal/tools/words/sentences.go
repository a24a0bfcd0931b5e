// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
	"unicode"
)

// longest is how many words a sentence has at most. The limits have the name for those that have more.
const longest, tooLong = 25, "sentences of more than 25 words"

var (
	sentenceEnd = regexp.MustCompile(`[.!?]["”)*]*\s+`)
	printed     = regexp.MustCompile(`(?i)^(unordered )?output:`)
	listItem    = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
	tableCell   = regexp.MustCompile(`\|`)
	// citation is what stands in brackets behind a statement: rules.
	citation = regexp.MustCompile(`\([A-Z]{2,4}-[^()]*\)`)
)

// longSentences returns the places of sentences in the comments of a Go file that are too long. What an example prints is none.
func longSentences(path string, content []byte) (places []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	for _, comment := range file.Comments {
		if !printed.MatchString(comment.Text()) {
			places = append(places, tooLongIn(files.Position(comment.Pos()).String(), paragraphs(comment.Text()))...)
		}
	}
	return places, nil
}

// longInMarkdown is longSentences for a document. A cell of a table is a paragraph.
func longInMarkdown(path, content string) []string {
	var text strings.Builder
	for i, part := range strings.Split(content, "```") {
		if i%2 == 0 { // no code
			text.WriteString(tableCell.ReplaceAllString(part, "\n\n"))
		}
	}
	return tooLongIn(path, paragraphs(text.String()))
}

func tooLongIn(place string, paragraphs []string) (places []string) {
	for _, paragraph := range paragraphs {
		for _, sentence := range sentenceEnd.Split(citation.ReplaceAllString(paragraph, ""), -1) {
			if n := count(sentence); n > longest {
				places = append(places, fmt.Sprintf("%s: %d words: %s", place, n, sentence))
			}
		}
	}
	return places
}

// paragraphs returns those of a comment, and items of lists, but no code, headings and markers.
func paragraphs(text string) (all []string) {
	open := false
	for line := range strings.Lines(text) {
		item := listItem.MatchString(line)
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(trimmed, "+") || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(line, "\t"):
			open = false
		case open && !item:
			all[len(all)-1] += " " + trimmed
		default:
			all, open = append(all, listItem.ReplaceAllString(trimmed, "")), true
		}
	}
	return all
}

// count counts the words of a sentence.
func count(sentence string) (n int) {
	for word := range strings.FieldsSeq(sentence) {
		if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n++
		}
	}
	return n
}

// skipped tells whether a folder has nothing that people write for readers.
func skipped(entry fs.DirEntry) bool {
	name := entry.Name()
	return strings.HasPrefix(name, ".") || name == "bin" || name == "testdata" || name == "applyconfigurations"
}
