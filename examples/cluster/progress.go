package cluster

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress reads what go build -v says, a package path for each package it compiles, and tells a human how far it is: on one
// line that is written again and again if the output is a terminal, and else on a new line from time to time.
type progress struct {
	// what is built.
	what string
	// total returns the number of packages in all. It is asked once, when something is compiled at all.
	total func() int

	mu       sync.Mutex
	out      io.Writer
	terminal bool
	interval time.Duration
	begin    time.Time
	shown    time.Time
	count    int
	of       int
	partial  []byte
	other    []string
}

func newProgress(out io.Writer, what string) *progress {
	p := &progress{out: out, what: what, interval: 10 * time.Second, begin: time.Now()}
	if file, ok := out.(*os.File); ok {
		info, err := file.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	if p.terminal {
		p.interval = 200 * time.Millisecond
	}
	return p
}

// Write takes the output of go build, in pieces of any length.
func (p *progress) Write(data []byte) (int, error) {
	p.partial = append(p.partial, data...)
	for {
		line, rest, found := bytes.Cut(p.partial, []byte("\n"))
		if !found {
			return len(data), nil
		}
		p.line(string(line))
		p.partial = rest
	}
}

// line takes one line: a package path, a download, or something that went wrong.
func (p *progress) line(line string) {
	if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
		p.status("downloading " + module)
		return
	}
	if strings.ContainsAny(line, " \t") {
		p.mu.Lock()
		p.other = append(p.other, line)
		p.mu.Unlock()
		return
	}
	p.mu.Lock()
	p.count++
	first := p.count == 1
	p.mu.Unlock()
	if first {
		p.status("building " + p.what + "; this takes some minutes, but only once")
		go p.askTotal()
	}
	p.mu.Lock()
	text := fmt.Sprintf("building %s: %d packages compiled", p.what, p.count)
	if p.of > 0 {
		text = fmt.Sprintf("building %s: %d of at most %d packages compiled", p.what, p.count, p.of)
	}
	p.mu.Unlock()
	p.status(text)
}

func (p *progress) askTotal() {
	of := p.total()
	p.mu.Lock()
	p.of = of
	p.mu.Unlock()
}

// status shows a text, unless the last one was shown only just now.
func (p *progress) status(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil || !p.shown.IsZero() && time.Since(p.shown) < p.interval {
		return
	}
	p.shown = time.Now()
	text = fmt.Sprintf("%s, %s", text, time.Since(p.begin).Round(time.Second))
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.out, text)
	}
}

// finish ends the line that stands on a terminal.
func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal && !p.shown.IsZero() {
		fmt.Fprintf(p.out, "\r\x1b[K")
	}
	if p.count > 0 && p.out != nil {
		fmt.Fprintf(p.out, "built %s in %s\n", p.what, time.Since(p.begin).Round(time.Second))
	}
}

// complaints returns what go build said besides progress.
func (p *progress) complaints() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(append(p.other, string(p.partial)), "\n")
}
