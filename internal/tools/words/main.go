// SPDX-License-Identifier: Apache-2.0

// Command words counts words that hide who acts, or that need a second reading, in comments,
// messages and Markdown. It also counts the sentences of comments and documents that are too long. It fails if there are more of a word
// than its limit. If there are fewer, it says so: then lower the limit, which only falls.
//
//	words limits.txt folder
//
// A line of the limits is a number and a word, which may be several words, or "sentences of more than 25 words".
package main

import (
	"bufio"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// shown is how many places are listed of a word that there is too much of.
const shown = 10

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: words limits.txt folder")
		os.Exit(2)
	}
	problems, notes, err := check(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, text := range append(notes, problems...) {
		fmt.Println(text)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong with the words of a folder, and which limits can be lower.
func check(limits, folder string) (problems, notes []string, err error) {
	file, err := os.Open(limits)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	texts, long, err := read(folder)
	if err != nil {
		return nil, nil, err
	}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var limit int
		number, word, _ := strings.Cut(lines.Text(), " ")
		if _, err := fmt.Sscan(number, &limit); err != nil || word == "" {
			return nil, nil, fmt.Errorf("%s: %q is no number and word", limits, lines.Text())
		}
		places := long
		if word != tooLong {
			places = find(texts, word)
		}
		switch {
		case len(places) > limit && word == tooLong:
			problems = append(problems, fmt.Sprintf("comments and Markdown have %d %s, and may have %d: make two of one\n\t%s",
				len(places), word, limit, strings.Join(places[max(0, len(places)-shown):], "\n\t")))
		case len(places) > limit:
			problems = append(problems, fmt.Sprintf("%q stands %d times in comments, messages and Markdown, and may %d times: say who acts, or \"if\" and \"when\"\n\t%s",
				word, len(places), limit, strings.Join(places[max(0, len(places)-shown):], "\n\t")))
		case len(places) < limit:
			notes = append(notes, fmt.Sprintf("%q stands %d times only: lower its limit in %s to that, from %d", word, len(places), limits, limit))
		}
	}
	return problems, notes, nil
}

// text is a line of a comment, a message or a document.
type text struct {
	place string
	line  string
}

// read reads the texts of a folder, and finds the long sentences.
func read(folder string) (texts []text, long []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && skipped(entry):
			return fs.SkipDir
		case entry.IsDir() || strings.HasPrefix(name, "zz_generated"):
			return nil
		case strings.HasSuffix(name, ".go"), strings.HasSuffix(name, ".md"):
			content, err := os.ReadFile(path)
			if strings.HasSuffix(name, ".md") {
				texts = append(texts, linesOf(path, 1, string(content))...)
				long = append(long, longInMarkdown(path, string(content))...)
			} else {
				texts = append(texts, ofGo(path, content)...)
			}
			if err != nil || strings.HasSuffix(name, ".md") {
				return err
			}
			places, err := longSentences(path, content)
			long = append(long, places...)
			return err
		}
		return nil
	})
	return texts, long, err
}

func linesOf(path string, first int, content string) (texts []text) {
	for i, line := range strings.Split(content, "\n") {
		texts = append(texts, text{fmt.Sprintf("%s:%d: %s", path, first+i, strings.TrimSpace(line)), line})
	}
	return texts
}

// ofGo returns the comments of a Go file, and its strings unless it is a test.
func ofGo(path string, content []byte) (texts []text) {
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(path, -1, len(content)), content, nil, scanner.ScanComments)
	for {
		at, kind, literal := s.Scan()
		switch {
		case kind == token.EOF:
			return texts
		case kind == token.COMMENT, kind == token.STRING && !strings.HasSuffix(path, "_test.go"):
			texts = append(texts, linesOf(path, files.Position(at).Line, literal)...)
		}
	}
}

// find returns the places of a word, in any case.
func find(texts []text, word string) (places []string) {
	pattern := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(word) + `\b`)
	for _, t := range texts {
		for range pattern.FindAllString(t.line, -1) {
			places = append(places, t.place)
		}
	}
	return places
}
