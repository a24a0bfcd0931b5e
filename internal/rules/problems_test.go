// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const id = `([A-Z]{2,3})-([A-Z]{0,2}\d+(?:\.\d+)*)`

var (
	definition = regexp.MustCompile(`(?m)^(?: *- )?\*\*` + id + `\*\*`)
	citation   = regexp.MustCompile(`\b` + id + `(?:\s+(?://\s*|#\s*)?to\s+(?://\s*|#\s*)?` + id + `)?`)
	withoutID  = regexp.MustCompile(`(?i)\b(rules?|edges?|edge cases?)\s+(?://\s*|#\s*)?(\d+)\b`)
)

// place is a file, and a line of it.
type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// checker reads the rules of a repository, and what cites them.
type checker struct {
	files    map[string]string // their text, by path
	rules    map[string]place  // the place of each, by id
	pages    map[string]string // by the letters of their rules
	tested   map[string]bool   // by id
	problems []string
}

// problems lists what is wrong with the rules and citations in files, which are
// given by their path.
func problems(files map[string]string) []string {
	c := &checker{files: files, rules: map[string]place{}, pages: map[string]string{}, tested: map[string]bool{}}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if path.Base(name) == "RULES.md" {
			c.readRules(name)
		}
	}
	for _, name := range names {
		c.checkCitations(name)
		if path.Ext(name) != ".md" {
			c.checkIDs(name)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(c.rules)) {
		if !c.tested[rule] {
			c.say(c.rules[rule], "no test names %s", rule)
		}
	}
	return c.problems
}

func (c *checker) say(where place, format string, args ...any) {
	c.problems = append(c.problems, where.String()+": "+fmt.Sprintf(format, args...))
}

func (c *checker) readRules(name string) {
	text := c.files[name]
	for _, m := range definition.FindAllStringSubmatchIndex(text, -1) {
		letters, rule, where := text[m[2]:m[3]], text[m[2]:m[5]], lineOf(name, text, m[0])
		if page, ok := c.pages[letters]; ok && page != name {
			c.say(where, "%s has the letters of %s", rule, page)
		} else if before, ok := c.rules[rule]; ok {
			c.say(where, "%s stands in %s already", rule, before)
		}
		c.pages[letters], c.rules[rule] = name, where
	}
}

func (c *checker) checkCitations(name string) {
	for rule, where := range citations(name, c.files[name], c.pages) {
		if _, ok := c.rules[rule]; !ok {
			c.say(where, "cites %s, which no RULES.md holds", rule)
		}
		for isTest(name) && rule != "" { // with a part of it a rule is named, too
			c.tested[rule] = true
			rule = rule[:max(strings.LastIndexByte(rule, '.'), 0)]
		}
	}
}

// checkIDs looks for rules that are cited without an id.
func (c *checker) checkIDs(name string) {
	text := c.files[name]
	for _, m := range withoutID.FindAllStringSubmatchIndex(text, -1) {
		c.say(lineOf(name, text, m[0]), `"%s %s": cite the id of the rule, such as CS-18`, text[m[2]:m[3]], text[m[4]:m[5]])
	}
}

// isTest tells whether a file belongs to tests alone.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "internal/testing/simulation/") ||
		strings.HasPrefix(name, "internal/testing/conformance/")
}

// citations returns the rules that a file names, and the line that does so first.
// Letters that are those of no page cite nothing.
func citations(name, text string, pages map[string]string) map[string]place {
	cited := map[string]place{}
	cite := func(rule string, at int) {
		if _, ok := cited[rule]; !ok {
			cited[rule] = lineOf(name, text, at)
		}
	}
	for _, m := range citation.FindAllStringSubmatchIndex(text, -1) {
		letters, from := text[m[2]:m[3]], text[m[4]:m[5]]
		if _, ok := pages[letters]; !ok {
			continue
		}
		cite(letters+"-"+from, m[0])
		if m[6] < 0 {
			continue
		}
		to := text[m[8]:m[9]]
		for _, number := range between(from, to) {
			cite(letters+"-"+number, m[0])
		}
		cite(text[m[6]:m[7]]+"-"+to, m[0])
	}
	return cited
}

// between returns the numbers between two that differ in their last part, as
// E3.4 and E3.7 do.
func between(from, to string) []string {
	cut := func(number string) (string, int) {
		head := strings.TrimRight(number, "0123456789")
		n, _ := strconv.Atoi(number[len(head):])
		return head, n
	}
	head, first := cut(from)
	other, last := cut(to)
	var numbers []string
	for n := first + 1; head == other && n < last; n++ {
		numbers = append(numbers, head+strconv.Itoa(n))
	}
	return numbers
}

func lineOf(name, text string, at int) place {
	return place{name, strings.Count(text[:at], "\n") + 1}
}
