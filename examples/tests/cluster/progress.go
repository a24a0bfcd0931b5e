// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// progress counts what go build -v says, a line for each package that it compiles, and tells a human from time to time.
type progress struct {
	// what is built.
	what     string
	out      io.Writer // may be nil
	interval time.Duration

	begin, shown time.Time
	said         bytes.Buffer
}

func newProgress(out io.Writer, what string) *progress {
	return &progress{what: what, out: out, interval: 10 * time.Second, begin: time.Now()}
}

// Write takes the output of go build, in pieces of any length.
func (p *progress) Write(data []byte) (int, error) {
	if p.said.Len() == 0 {
		p.status("building " + p.what + "; this takes some minutes, but only once")
	}
	p.said.Write(data)
	p.status(fmt.Sprintf("building %s: %d packages downloaded or compiled", p.what, bytes.Count(p.said.Bytes(), []byte("\n"))))
	return len(data), nil
}

// status shows a text, unless the last one was shown only just now.
func (p *progress) status(text string) {
	if p.out != nil && (p.shown.IsZero() || time.Since(p.shown) >= p.interval) {
		p.shown = time.Now()
		fmt.Fprintf(p.out, "%s, %s\n", text, time.Since(p.begin).Round(time.Second))
	}
}

// complaints returns what go build said besides progress.
func (p *progress) complaints() string {
	var out []string
	for line := range strings.Lines(p.said.String()) {
		if strings.ContainsAny(strings.TrimSpace(line), " \t") && !strings.HasPrefix(line, "go: downloading ") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
