// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
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
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
)

// line is a line of text; color is a number of the terminal's.
type line struct{ text, color string }

// The colors of lines.
const title, good, busy, bad = "1", "32", "33", "31"

// screen writes to a terminal, where one table is drawn over again in place, or to
// a file or pipe without any control codes.
type screen struct {
	out         *os.File
	live, color bool // a terminal, and one of colors
	drawn       int  // lines that stand at the end and may be drawn over
}

// newScreen returns one in colors, unless the environment variable NO_COLOR is set.
func newScreen(out *os.File) *screen {
	live := term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
	return &screen{out: out, live: live, color: live && os.Getenv("NO_COLOR") == ""}
}

// print writes lines below what stands there, which stays.
func (s *screen) print(lines ...line) {
	s.drawn = 0
	for _, l := range lines {
		if s.color && l.color != "" {
			l.text = "\x1b[" + l.color + "m" + l.text + "\x1b[0m"
		}
		fmt.Fprintln(s.out, l.text)
	}
}

// draw draws lines over the last ones that were drawn. It does nothing where there is no terminal.
func (s *screen) draw(lines ...line) {
	if !s.live {
		return
	}
	if s.drawn > 0 {
		fmt.Fprintf(s.out, "\x1b[%dA\r\x1b[J", s.drawn)
	}
	if width, height, err := term.GetSize(int(s.out.Fd())); err == nil && width > 0 {
		lines = slices.Clone(lines[:min(len(lines), max(height-1, 1))])
		for i, l := range lines {
			if text := []rune(l.text); len(text) >= width { // or it would take two lines
				lines[i].text = string(text[:max(width-1, 0)])
			}
		}
	}
	s.print(lines...)
	s.drawn = len(lines)
}

// keep leaves lines to be read, in place of the last ones that were drawn.
func (s *screen) keep(lines ...line) {
	if s.draw(lines...); !s.live {
		s.print(append([]line{{}}, lines...)...)
	}
	s.drawn = 0
}

// step announces what takes time, does it, and says how long it took unless it fails.
func (s *screen) step(what, done string, do func() error) error {
	begin := time.Now()
	s.drawn = 0
	s.draw(line{text: "  ...     " + what})
	err := do()
	if s.draw(); err == nil {
		s.print(line{text: fmt.Sprintf("%6.1f s  %s", time.Since(begin).Seconds(), done)})
	}
	return err
}

// render shows a workload, and what its plan says of the pods that do not move.
func render(s *state) []line {
	waits, letters, reasons := map[*corev1.Pod]string{}, map[string]string{}, []line(nil)
	for _, w := range slices.Backward(s.Waiting) { // the first reason counts
		waits[w.Pod] = w.Reason.String()
	}
	var text strings.Builder
	bar, colors, updated := "", []string{""}, 0
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD\tREVISION\tIMAGE\tSTATE\tRESTARTS\tNODE\tIP\tWHY")
	for _, pod := range slices.SortedFunc(slices.Values(s.pods), byName) {
		word, color := s.stateOf(pod)
		reason := waits[pod]
		if color == busy || color == bad { // that a pod moves stands in its state
			reason = ""
		}
		if reason != "" && letters[reason] == "" {
			letters[reason] = string(rune('a' + len(letters)))
			reasons = append(reasons, line{text: letters[reason] + "  " + reason})
		}
		if s.isUpdated(pod) {
			updated++
		}
		bar += map[string]string{good: "#", busy: "~", bad: "!", "": "."}[color]
		colors = append(colors, color)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", pod.Name, revision.ShortHash(pod.Labels["controller-revision-hash"]),
			path.Base(pod.Spec.Containers[0].Image), word, restarts(pod), pod.Spec.NodeName, pod.Status.PodIP, letters[reason])
	}
	_ = table.Flush() // to memory
	out := []line{{text: fmt.Sprintf("[%s] %d of %d updated, %d ready, %d unavailable", bar, updated, s.replicas, available(s.pods), s.unavailable())}, {}}
	for i, row := range strings.Split(strings.TrimRight(text.String(), "\n"), "\n") {
		out = append(out, line{strings.TrimRight(row, " "), colors[i]})
	}
	if reason := waits[nil]; reason != "" {
		reasons = append(reasons, line{text: "pods are not created yet: " + reason})
	}
	for _, problem := range s.Problems {
		reasons = append(reasons, line{"! " + problem.Err.Error(), bad})
	}
	if len(reasons) > 0 {
		out = append(out, line{})
	}
	return append(out, reasons...)
}

// byName puts web-9 before web-10. Other names of one workload are equally long.
func byName(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
}

// troubles are the reasons why a container waits that do not pass by themselves.
var troubles = []string{
	"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull",
	"CrashLoopBackOff", "RunContainerError", "CreateContainerError", "CreateContainerConfigError",
}

// stateOf says in a word what becomes of a pod, and in a color how that is to be taken.
func (s *state) stateOf(pod *corev1.Pod) (word, color string) {
	for i := range pod.Status.ContainerStatuses {
		waiting := pod.Status.ContainerStatuses[i].State.Waiting
		if waiting != nil && slices.Contains(troubles, waiting.Reason) && pod.DeletionTimestamp == nil {
			return waiting.Reason, bad
		}
	}
	gate := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady)
	switch {
	case pod.DeletionTimestamp != nil:
		return "terminating", busy
	case readiness.Ready(pod) && s.isUpdated(pod):
		return "ready", good
	case readiness.Ready(pod):
		return "ready", ""
	case gate != nil && gate.Status != corev1.ConditionTrue:
		return "updating", busy
	}
	return "starting", busy
}

func (s *state) isUpdated(pod *corev1.Pod) bool {
	return s.Revisions.Update != nil && revision.Matches(pod.Labels["controller-revision-hash"], s.Revisions.Update.Name)
}

// unavailable counts the pods that are missing or do not serve.
func (s *state) unavailable() int { return max(s.replicas-available(s.pods), 0) }

// quiet tells whether no pod is on its way.
func (s *state) quiet() bool {
	return !slices.ContainsFunc(s.pods, func(pod *corev1.Pod) bool {
		_, color := s.stateOf(pod)
		return color == busy
	})
}
