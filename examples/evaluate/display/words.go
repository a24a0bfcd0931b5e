package display

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// reason is why some pods wait, shown as one line with a letter.
type reason struct {
	letter string
	wait   Wait
	pods   int
}

func (r *reason) String() string {
	pods := "1 pod waits"
	if r.pods > 1 {
		pods = fmt.Sprintf("%d pods wait", r.pods)
	}
	return r.letter + "  " + pods + ": " + r.wait.Message
}

// group collects the reasons of the pods, in the order in which they appear.
func group(rows []Row) []*reason {
	var out []*reason
	for _, row := range rows {
		if row.Wait == nil {
			continue
		}
		r := find(out, row.Wait)
		if r == nil {
			r = &reason{letter: letter(len(out)), wait: *row.Wait}
			out = append(out, r)
		}
		r.pods++
	}
	return out
}

func find(reasons []*reason, w *Wait) *reason {
	for _, r := range reasons {
		if r.wait == *w {
			return r
		}
	}
	return nil
}

// letterOf returns the letter of the line that says why; "" for a pod that does not wait.
func letterOf(reasons []*reason, w *Wait) string {
	if w == nil {
		return ""
	}
	return find(reasons, w).letter
}

// letter counts a, b, ... z, aa, ab, ...
func letter(n int) string {
	const letters = 26
	if n >= letters {
		return letter(n/letters-1) + letter(n%letters)
	}
	return string(rune('a' + n))
}

// wrap breaks text between words into lines. Those after the first begin below
// the text of the first: below what follows its last gap of two spaces.
func wrap(text string, width int, style Style) []Line {
	indent := strings.Repeat(" ", hanging(text, width))
	var out []Line
	line, empty := "", true
	for _, word := range strings.SplitAfter(text, " ") {
		if !empty && utf8.RuneCountInString(line+strings.TrimRight(word, " ")) > width {
			out = append(out, Line{strings.TrimRight(line, " "), style})
			line = indent
		}
		line, empty = line+word, empty && word == " "
	}
	return append(out, Line{strings.TrimRight(line, " "), style})
}

// hanging is the column of what follows the last gap of two spaces, unless that
// is far to the right.
func hanging(text string, width int) int {
	if at := strings.LastIndex(text, "  "); at >= 0 && at+2 <= width/4 {
		return at + 2
	}
	return 0
}

// cut shortens text to a width and shows that it did. It drops spaces at the end.
func cut(text string, width int) string {
	text = strings.TrimRight(text, " ")
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	const mark = "..."
	return string([]rune(text)[:width-len(mark)]) + mark
}
