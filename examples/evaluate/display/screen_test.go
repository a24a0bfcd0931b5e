package display

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// terminal understands what Screen writes, as a terminal does that is high
// enough for all of it.
type terminal struct {
	t           *testing.T
	width       int
	lines       []string
	row, column int
}

var code = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

func (v *terminal) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		if m := code.FindStringSubmatch(text); m != nil {
			v.control(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		v.put(text[0])
		text = text[1:]
	}
	return len(p), nil
}

func (v *terminal) control(number, command string) {
	n, _ := strconv.Atoi(number)
	v.grow()
	switch command {
	case "A":
		if v.row -= n; v.row < 0 {
			v.t.Errorf("the cursor goes %d lines above the first", -v.row)
			v.row = 0
		}
	case "K":
		v.lines[v.row] = v.lines[v.row][:min(v.column, len(v.lines[v.row]))]
	case "J":
		v.lines = v.lines[:v.row+1]
		v.lines[v.row] = v.lines[v.row][:min(v.column, len(v.lines[v.row]))]
	case "m":
	default:
		v.t.Errorf("unknown control code %s%s", number, command)
	}
}

func (v *terminal) put(c byte) {
	switch c {
	case '\n':
		v.row, v.column = v.row+1, 0
	case '\r':
		v.column = 0
	default:
		if v.column == v.width {
			v.row, v.column = v.row+1, 0
		}
		v.grow()
		line := v.lines[v.row] + strings.Repeat(" ", max(0, v.column-len(v.lines[v.row])))
		v.lines[v.row] = line[:v.column] + string(c) + line[min(v.column+1, len(line)):]
		v.column++
	}
	v.grow()
}

func (v *terminal) grow() {
	for len(v.lines) <= v.row {
		v.lines = append(v.lines, "")
	}
}

func (v *terminal) check(want string) {
	v.t.Helper()
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), strings.Join(v.lines, "\n")); diff != "" {
		v.t.Errorf("terminal (-want +got):\n%s", diff)
	}
}

func newTerminal(t *testing.T, width int) (*terminal, *Screen) {
	v := &terminal{t: t, width: width}
	return v, &Screen{out: v, live: true, color: true, size: func() (int, int) { return v.width, 30 }}
}

// small is a view of n pods.
func small(step string, n int) View {
	v := View{Step: step, Replicas: n, Ready: n, MaxUnavailable: -1, MostUnavailable: -1}
	for i := range n {
		v.Rows = append(v.Rows, Row{Pod: fmt.Sprint("web-", i), State: "ready"})
	}
	return v
}

func TestDrawInPlace(t *testing.T) {
	v, screen := newTerminal(t, 80)
	screen.Printf("before")
	screen.Draw(small("first", 3))
	screen.Draw(small("second", 1))
	want := `
before

second
[.] 0 of 1 updated, 1 ready, 0 unavailable

POD    REVISION  IMAGE  STATE  RESTARTS  NODE  IP  WAITS
web-0                   ready         0
`
	v.check(want)
	screen.Printf("after")
	screen.Draw(small("third", 1))
	v.check(want + `after

third
[.] 0 of 1 updated, 1 ready, 0 unavailable

POD    REVISION  IMAGE  STATE  RESTARTS  NODE  IP  WAITS
web-0                   ready         0
`)
}

// A terminal that became narrower has broken the long lines by itself.
func TestDrawAfterResize(t *testing.T) {
	v, screen := newTerminal(t, 80)
	screen.Draw(small("first", 2))
	v.lines, v.row = []string{"", "first", "[..] 0 of 2 updated, 2 ready, 0 unavaila", "ble", "",
		"POD    REVISION  IMAGE  STATE  RESTARTS ", " NODE  IP  WAITS", "web-0                   ready         0", "web-1                   ready         0", ""}, 9
	v.width = 41
	screen.Draw(small("first", 2))
	if got := strings.Join(v.lines, "\n"); strings.Count(got, "first") != 1 || strings.Contains(got, "WAITS") {
		t.Errorf("the old lines are still there:\n%s", got)
	}
}

func TestSteps(t *testing.T) {
	v, screen := newTerminal(t, 40)
	end := screen.Begin("doing something that takes a very long time")
	v.check("\n  ...     doing something that takes...")
	end("done")
	v.check("\n   0.0 s  done\n")
	screen.Begin("another")("")
	v.check("\n   0.0 s  done\n")
	end = screen.Begin("interrupted")
	screen.Printf("word in between that is longer than a line")
	end("finished")
	v.check(`
   0.0 s  done
  ...     interrupted
word in between that is longer than a
line
   0.0 s  finished
`)
}

func TestVerbatimIsNotBroken(t *testing.T) {
	v, screen := newTerminal(t, 20)
	screen.Print(Line{Text: "a command that is long", Style: Verbatim})
	v.check("\na command that is lo\nng\n") // by the terminal
}

func TestPlain(t *testing.T) {
	var out strings.Builder
	screen := &Screen{out: &out, size: func() (int, int) { return PlainWidth, 0 }}
	end := screen.Begin("doing")
	screen.Draw(small("drawn", 1))
	end("done")
	screen.Keep(small("kept", 1))
	want := `   0.0 s  done

kept
[.] 0 of 1 updated, 1 ready, 0 unavailable

POD    REVISION  IMAGE  STATE  RESTARTS  NODE  IP  WAITS
web-0                   ready         0
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}
