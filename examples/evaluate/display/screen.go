package display

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen writes to a terminal, or to a file or pipe without any control codes.
// It is safe for concurrent use.
type Screen struct {
	mu    sync.Mutex
	out   io.Writer
	live  bool
	color bool
	size  func() (width, height int)
	// drawn are the lines that stand at the end and may be drawn over, and busy
	// is text of a step on its way, without a newline.
	drawn []string
	busy  bool
}

// NewScreen returns a Screen on a file, often os.Stdout. A terminal is drawn on
// in place; in colours, unless the environment variable NO_COLOR is set.
func NewScreen(out *os.File) *Screen {
	fd := int(out.Fd())
	s := &Screen{out: out, live: term.IsTerminal(fd) && os.Getenv("TERM") != "dumb"}
	s.color = s.live && os.Getenv("NO_COLOR") == ""
	s.size = func() (int, int) {
		width, height, err := term.GetSize(fd)
		if !s.live || err != nil || width <= 0 {
			return PlainWidth, 0
		}
		return width, height
	}
	return s
}

// Live tells whether the screen is drawn on in place.
func (s *Screen) Live() bool { return s.live }

// Print writes text below what stands there, which stays. On a terminal lines are
// broken between words, except those of the style Verbatim.
func (s *Screen) Print(lines ...Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeze()
	s.print(lines...)
}

func (s *Screen) print(lines ...Line) {
	width, _ := s.size()
	for _, line := range lines {
		broken := []Line{line}
		if s.live && line.Style != Verbatim {
			broken = wrap(line.Text, width-1, line.Style)
		}
		for _, line := range broken {
			fmt.Fprintln(s.out, s.paint(line))
		}
	}
}

// Printf writes one plain line.
func (s *Screen) Printf(format string, arguments ...any) {
	s.Print(Line{Text: fmt.Sprintf(format, arguments...)})
}

// Begin announces a step that takes time; the function that it returns says
// how it ended, and how long it took. After a failure call it with "".
func (s *Screen) Begin(what string) (end func(result string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeze()
	if s.live {
		width, _ := s.size()
		fmt.Fprint(s.out, cut("  ...     "+what, width-1))
		s.busy = true
	}
	begin := time.Now()
	return func(result string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy {
			s.busy = false
			fmt.Fprint(s.out, "\r\x1b[K")
		}
		if result != "" {
			s.print(Line{Text: fmt.Sprintf("%6.1f s  ", time.Since(begin).Seconds()) + result})
		}
	}
}

// Draw draws a view over the last one. It does nothing where there is no
// terminal.
func (s *Screen) Draw(v View) {
	if !s.live {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draw(v)
}

// Keep shows a view that stays.
func (s *Screen) Keep(v View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live {
		s.draw(v)
		s.freeze()
		return
	}
	fmt.Fprintln(s.out)
	for _, line := range Render(v, PlainWidth, 0) {
		fmt.Fprintln(s.out, line.Text)
	}
}

func (s *Screen) draw(v View) {
	if s.busy {
		s.freeze()
	}
	width, height := s.size()
	var out strings.Builder
	if s.drawn != nil {
		// A line that is longer than the terminal is wide now takes several.
		up := 0
		for _, line := range s.drawn {
			up += max(1, (utf8.RuneCountInString(line)+width-1)/width)
		}
		fmt.Fprintf(&out, "\r\x1b[%dA", up)
	}
	// The last column stays free, else some terminals begin another line; so
	// does the last line, for the cursor.
	lines := append([]Line{{}}, Render(v, width-1, max(height-2, 1))...)
	s.drawn = s.drawn[:0]
	for _, line := range lines {
		out.WriteString(s.paint(line))
		out.WriteString("\x1b[K\n")
		s.drawn = append(s.drawn, line.Text)
	}
	out.WriteString("\x1b[J")
	_, _ = io.WriteString(s.out, out.String())
}

// freeze makes what is drawn stay.
func (s *Screen) freeze() {
	s.drawn = nil
	if s.busy {
		s.busy = false
		fmt.Fprintln(s.out)
	}
}

var codes = map[Style]string{Title: "1", Head: "2", Good: "32", Busy: "33", Bad: "31"}

func (s *Screen) paint(line Line) string {
	code := codes[line.Style]
	if !s.color || code == "" || line.Text == "" {
		return line.Text
	}
	return "\x1b[" + code + "m" + line.Text + "\x1b[0m"
}
