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

// place is where something stands: a file, and a line.
type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// problems lists what is wrong with the rules and citations in files, which are
// given by their path.
func problems(files map[string]string) []string {
	var found []string
	say := func(where place, format string, args ...any) {
		found = append(found, where.String()+": "+fmt.Sprintf(format, args...))
	}
	names := slices.Sorted(maps.Keys(files))

	rules, pages := map[string]place{}, map[string]string{} // by id, by letters
	for _, name := range names {
		if path.Base(name) != "RULES.md" {
			continue
		}
		for _, m := range definition.FindAllStringSubmatchIndex(files[name], -1) {
			letters, number := files[name][m[2]:m[3]], files[name][m[4]:m[5]]
			rule, where := letters+"-"+number, lineOf(name, files[name], m[0])
			if page, ok := pages[letters]; ok && page != name {
				say(where, "%s has the letters of %s", rule, page)
			} else if before, ok := rules[rule]; ok {
				say(where, "%s stands in %s already", rule, before)
			}
			pages[letters] = name
			rules[rule] = where
		}
	}

	tested := map[string]bool{}
	for _, name := range names {
		for rule, where := range citations(name, files[name], pages) {
			if _, ok := rules[rule]; !ok {
				say(where, "cites %s, which no RULES.md holds", rule)
			}
			for isTest(name) && rule != "" { // with a part of it a rule is named, too
				tested[rule] = true
				rule = rule[:max(strings.LastIndexByte(rule, '.'), 0)]
			}
		}
		if path.Ext(name) == ".md" {
			continue
		}
		for _, m := range withoutID.FindAllStringSubmatchIndex(files[name], -1) {
			text := files[name]
			say(lineOf(name, text, m[0]), `"%s %s": cite the id of the rule, such as CS-18`, text[m[2]:m[3]], text[m[4]:m[5]])
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		if !tested[rule] {
			say(rules[rule], "no test names %s", rule)
		}
	}
	return found
}

// isTest tells whether a file belongs to tests alone.
func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "internal/simulation/")
}

// citations returns the rules that a file names and where it does so first.
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
