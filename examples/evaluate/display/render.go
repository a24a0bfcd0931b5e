package display

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Line is a line of text and its colour.
type Line struct {
	Text  string
	Style Style
}

// Style is how a line looks on a terminal.
type Style int

// The styles of lines.
const (
	Plain Style = iota
	Title
	Head
	Good
	Busy
	Bad
	Verbatim // to be copied: commands and paths
)

var moods = map[Mood]Style{Old: Plain, Changed: Good, Moving: Busy, Broken: Bad}

// Smallest and, without a terminal, usual width of what is rendered.
const (
	minWidth   = 40
	PlainWidth = 120
)

// Render returns the lines of a view: a title, counters, the table, and why pods wait. No
// line is longer than the width, which counts as 40 at least. Pods that do not
// fit into the height are left out, and counted; 0 means no limit.
func Render(v View, width, height int) []Line {
	width = max(width, minWidth)
	above := []Line{{title(v, width), Title}, {counters(v, width), Plain}}
	reasons := group(v.Rows)
	var below []Line
	for _, r := range reasons {
		below = append(below, wrap(r.String(), width, Plain)...)
	}
	for _, note := range v.Notes {
		below = append(below, wrap("! "+note, width, Bad)...)
	}
	if len(below) > 0 {
		below = append([]Line{{}}, below...)
	}

	rows := table(v.Rows, reasons, width)
	if len(rows) > 0 {
		above = append(above, Line{})
	}
	if height > 0 {
		rows = shorten(rows, height-len(above)-len(below))
	}
	out := append(append(above, rows...), below...)
	if height > 0 && len(out) > height {
		out = out[:height]
	}
	for i := range out {
		out[i].Text = cut(out[i].Text, width)
	}
	return out
}

// shorten leaves pods out of a table that is too high, but never all of them.
func shorten(rows []Line, height int) []Line {
	height = max(height, 3) // the head, a pod, and the number of the others
	if len(rows) <= height {
		return rows
	}
	kept := height - 1
	return append(rows[:kept:kept], Line{Text: fmt.Sprintf("... and %d more pods", len(rows)-kept)})
}

// title puts the step to the left and the time to the right.
func title(v View, width int) string {
	if v.Elapsed <= 0 {
		return v.Step
	}
	elapsed := fmt.Sprintf("%.1f s", v.Elapsed.Truncate(100*time.Millisecond).Seconds())
	step := cut(v.Step, width-len(elapsed)-2)
	return step + strings.Repeat(" ", width-utf8.RuneCountInString(step)-len(elapsed)) + elapsed
}

// counters says how far the rollout is.
func counters(v View, width int) string {
	text := fmt.Sprintf("%s%d of %d updated, %d ready, %d unavailable", bar(v), v.Updated, v.Replicas, v.Ready, v.Unavailable)
	var limits []string
	if v.MaxUnavailable >= 0 {
		limits = append(limits, fmt.Sprintf("allowed %d", v.MaxUnavailable))
	}
	if v.MostUnavailable >= 0 {
		limits = append(limits, fmt.Sprintf("at most %d so far", v.MostUnavailable))
	}
	if more := " (" + strings.Join(limits, ", ") + ")"; len(limits) > 0 && len(text)+len(more) <= width {
		text += more
	}
	return text
}

// bar draws each pod as a sign: updated, on its way, broken or old. Nothing
// where there are no pods, or too many.
func bar(v View) string {
	if len(v.Rows) == 0 || len(v.Rows) > 20 {
		return ""
	}
	var updated, moving, broken, old int
	for _, row := range v.Rows {
		switch row.Mood {
		case Changed:
			updated++
		case Moving:
			moving++
		case Broken:
			broken++
		default:
			old++
		}
	}
	return "[" + strings.Repeat("#", updated) + strings.Repeat("~", moving) + strings.Repeat("!", broken) + strings.Repeat(".", old) + "] "
}

// column is a column of the table.
type column struct {
	head  string
	right bool
	cell  func(Row) string
}

// gap stands between columns.
const gap = "  "

// layouts are columns by their heads, the best layout first. WAITS names the rule that
// holds a pod, WHY only the letter of its line below the table.
var layouts = []string{
	"POD REVISION IMAGE STATE RESTARTS NODE IP WAITS",
	"POD REVISION IMAGE STATE RESTARTS NODE IP WHY",
	"POD IMAGE STATE RESTARTS NODE IP WHY",
	"POD IMAGE STATE RESTARTS WHY",
	"POD IMAGE STATE WHY",
}

// table lays the pods out in the best way that the width allows.
func table(rows []Row, reasons []*reason, width int) []Line {
	if len(rows) == 0 {
		return nil
	}
	all := map[string]column{}
	for _, c := range columns(reasons) {
		all[c.head] = c
	}
	var lines []Line
	for _, heads := range layouts {
		var columns []column
		for head := range strings.FieldsSeq(heads) {
			columns = append(columns, all[head])
		}
		lines = lay(rows, columns)
		if utf8.RuneCountInString(lines[0].Text) <= width {
			break
		}
	}
	return lines
}

func columns(reasons []*reason) []column {
	return []column{
		{"POD", false, func(r Row) string { return r.Pod }},
		{"REVISION", false, func(r Row) string { return r.Revision }},
		{"IMAGE", false, func(r Row) string { return r.Image }},
		{"STATE", false, func(r Row) string { return r.State }},
		{"RESTARTS", true, func(r Row) string { return strconv.Itoa(int(r.Restarts)) }},
		{"NODE", false, func(r Row) string { return r.Node }},
		{"IP", false, func(r Row) string { return r.IP }},
		{"WHY", false, func(r Row) string { return letterOf(reasons, r.Wait) }},
		{"WAITS", false, func(r Row) string {
			if r.Wait == nil {
				return ""
			}
			return letterOf(reasons, r.Wait) + " " + r.Wait.Rule
		}},
	}
}

// lay makes all lines as long as the longest, the head included.
func lay(rows []Row, columns []column) []Line {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = utf8.RuneCountInString(c.head)
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.cell(row)))
		}
	}
	line := func(cell func(column) string) string {
		var cells []string
		for i, c := range columns {
			cells = append(cells, pad(cell(c), widths[i], c.right))
		}
		return strings.Join(cells, gap)
	}
	out := []Line{{line(func(c column) string { return c.head }), Head}}
	for _, row := range rows {
		out = append(out, Line{line(func(c column) string { return c.cell(row) }), moods[row.Mood]})
	}
	return out
}

func pad(text string, width int, right bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(text))
	if right {
		return space + text
	}
	return text + space
}
