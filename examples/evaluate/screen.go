// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
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
	mu    sync.Mutex
	out   *os.File
	live  bool // a terminal
	color bool
	drawn int // lines that stand at the end and may be drawn over
}

// newScreen returns one in colors, unless the environment variable NO_COLOR is set.
func newScreen(out *os.File) *screen {
	live := term.IsTerminal(int(out.Fd())) && os.Getenv("TERM") != "dumb"
	return &screen{out: out, live: live, color: live && os.Getenv("NO_COLOR") == ""}
}

// print writes lines below what stands there, which stays.
func (s *screen) print(lines ...line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = 0
	s.write(lines)
}

func (s *screen) write(lines []line) {
	for _, l := range lines {
		if s.color && l.color != "" {
			l.text = "\x1b[" + l.color + "m" + l.text + "\x1b[0m"
		}
		fmt.Fprintln(s.out, l.text)
	}
}

// step announces what takes time, does it, and says how long it took unless it fails.
func (s *screen) step(what, done string, do func() error) error {
	begin := time.Now()
	s.print() // what is drawn stays
	s.draw([]line{{text: "  ...     " + what}}, false)
	err := do()
	s.draw(nil, false)
	if err == nil {
		s.print(line{text: fmt.Sprintf("%6.1f s  %s", time.Since(begin).Seconds(), done)})
	}
	return err
}

// draw draws lines over the last ones, where there is a terminal. Those that are kept are not drawn over.
func (s *screen) draw(lines []line, keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		if keep {
			s.write(append([]line{{}}, lines...))
		}
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
	s.write(lines)
	if s.drawn = len(lines); keep {
		s.drawn = 0
	}
}

// keepPlain leaves lines to be read where nothing is drawn over.
func (s *screen) keepPlain(lines []line) {
	if !s.live {
		s.draw(lines, true)
	}
}

// render shows a workload, and what its plan says of the pods that do not move.
func render(s *state) []line {
	waits := map[*corev1.Pod]string{}
	var reasons []line
	letters := map[string]string{}
	for _, w := range slices.Backward(s.Waiting) { // the first reason counts
		waits[w.Pod] = w.Reason.String()
	}
	var bar, text strings.Builder
	var colors []string
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD\tREVISION\tIMAGE\tSTATE\tRESTARTS\tNODE\tIP\tWHY")
	updated := 0
	for _, pod := range slices.SortedFunc(slices.Values(s.pods), byName) {
		word, color := s.stateOf(pod)
		why := ""
		if reason := waits[pod]; reason != "" && color != busy && color != bad { // that a pod moves stands in its state
			if why = letters[reason]; why == "" {
				why = string(rune('a' + len(letters)))
				letters[reason] = why
				reasons = append(reasons, line{text: why + "  " + reason})
			}
		}
		if s.isUpdated(pod) {
			updated++
		}
		bar.WriteString(map[string]string{good: "#", busy: "~", bad: "!", "": "."}[color])
		colors = append(colors, color)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", pod.Name, revision.ShortHash(pod.Labels["controller-revision-hash"]),
			path.Base(pod.Spec.Containers[0].Image), word, restarts(pod), pod.Spec.NodeName, pod.Status.PodIP, why)
	}
	_ = table.Flush() // to memory
	out := []line{{text: fmt.Sprintf("[%s] %d of %d updated, %d ready, %d unavailable", bar.String(), updated, s.replicas, s.ready(), s.unavailable())}, {}}
	for i, row := range strings.Split(strings.TrimRight(text.String(), "\n"), "\n") {
		out = append(out, line{text: strings.TrimRight(row, " "), color: slices.Concat([]string{""}, colors)[i]})
	}
	if reason := waits[nil]; reason != "" {
		reasons = append(reasons, line{text: "pods are not created yet: " + reason})
	}
	for _, problem := range s.Problems {
		reasons = append(reasons, line{text: "! " + problem.Err.Error(), color: bad})
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
	if pod.DeletionTimestamp != nil {
		return "terminating", busy
	}
	for i := range pod.Status.ContainerStatuses {
		if waiting := pod.Status.ContainerStatuses[i].State.Waiting; waiting != nil && slices.Contains(troubles, waiting.Reason) {
			return waiting.Reason, bad
		}
	}
	gate := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady)
	switch {
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

// ready counts the pods that are available, unavailable those that are missing or not.
func (s *state) ready() (n int) {
	for _, pod := range s.pods {
		if readiness.Ready(pod) && pod.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

func (s *state) unavailable() int { return max(s.replicas-s.ready(), 0) }

// quiet tells whether no pod is on its way.
func (s *state) quiet() bool {
	return !slices.ContainsFunc(s.pods, func(pod *corev1.Pod) bool {
		_, color := s.stateOf(pod)
		return color == busy
	})
}
