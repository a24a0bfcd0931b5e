// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
)

// line is a line of text; color is a number of the terminal's.
type line struct{ text, color string }

// The colors of lines.
const title, good, busy, bad = "1", "32", "33", "31"

// screen writes to a terminal, where one table is drawn over again in place, or to
// a file or pipe without any control codes.
type screen struct {
	out         *os.File
	live, color bool   // a terminal, and one of colors
	drawn       []line // stand at the end and may be drawn over
}

// newScreen returns one in colors, unless the environment variable NO_COLOR is set.
func newScreen(out *os.File) *screen {
	live := term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
	return &screen{out: out, live: live, color: live && os.Getenv("NO_COLOR") == ""}
}

// print writes lines below what stands there, which stays.
func (s *screen) print(lines ...line) {
	s.drawn = nil
	for _, l := range lines {
		if s.color && l.color != "" {
			l.text = "\x1b[" + l.color + "m" + l.text + "\x1b[0m"
		}
		fmt.Fprintln(s.out, l.text)
	}
}

// draw draws lines over the last ones that were drawn. It does nothing where there is no terminal.
func (s *screen) draw(lines ...line) {
	if _, height, err := term.GetSize(int(s.out.Fd())); err == nil && height > 1 {
		lines = lines[:min(len(lines), height-1)]
	}
	if !s.live || slices.Equal(lines, s.drawn) { // who marks text on the screen wants it to stand still
		return
	}
	if len(s.drawn) > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\r\x1b[J", len(s.drawn))
	}
	fmt.Fprint(s.out, "\x1b[?7l") // no line takes two of the terminal's
	s.print(lines...)
	fmt.Fprint(s.out, "\x1b[?7h")
	s.drawn = lines
}

// step announces what takes time, does it, and says how long it took unless it fails.
func (s *screen) step(what string, do func() error) error {
	begin := time.Now()
	s.draw(line{text: "  ...     " + what})
	err := do()
	if s.draw(); err == nil {
		s.print(line{text: fmt.Sprintf("%6.1f s  %s", time.Since(begin).Seconds(), what)})
	}
	return err
}

// imagesOf names that of the only container of a pod, or those of the sidecars before the last one.
func imagesOf(pod *corev1.Pod) string {
	var names []string
	for i := range max(1, len(pod.Spec.Containers)-1) {
		names = append(names, path.Base(pod.Spec.Containers[i].Image))
	}
	return strings.Join(names, " ")
}

// render shows a workload, and what its plan says.
func render(s *state) []line {
	var text strings.Builder
	bar, colors, updated, ready := "", []string{""}, 0, available(slices.Values(s.pods))
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD\tREVISION\tIMAGE\tSTATE\tRESTARTS\tNODE\tIP")
	for _, pod := range slices.SortedFunc(slices.Values(s.pods), func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) }) {
		word, color := s.stateOf(pod)
		if s.isUpdated(pod) {
			updated++
		}
		bar += map[string]string{good: "#", busy: "~", bad: "!", "": "."}[color]
		colors = append(colors, color)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", pod.Name, revision.ShortHash(s.revisionOf(pod)), imagesOf(pod), word, restarts(pod), pod.Spec.NodeName, pod.Status.PodIP)
	}
	_ = table.Flush() // to memory
	out := []line{{text: fmt.Sprintf("[%s] %d pods, %d updated, %d ready", bar, len(s.pods), updated, ready)}}
	for i, row := range strings.Split(strings.TrimSpace(text.String()), "\n") {
		out = append(out, line{row, colors[i]})
	}
	for row := range strings.Lines("The plan now:\n" + s.Plan.String()) {
		out = append(out, line{text: strings.TrimSpace(row)})
	}
	return out
}
