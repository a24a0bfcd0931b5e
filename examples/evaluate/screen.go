// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/inplace/revision"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
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

// draw draws lines over the last ones that were drawn. It does nothing if there is no terminal.
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

// settled tells whether a workload has settled with these counts since the generation of a change, and no pod is on its way.
func (s *state) settled(generation int64, want counts) bool {
	if s.set == nil || !s.Empty() || s.set.GetGeneration() < generation {
		return false
	}
	fields, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(s.set) // which came as JSON
	for i, name := range append(s.counts[:], "observedGeneration") {
		n, _, _ := unstructured.NestedInt64(fields, "status", name)
		if n != append(want[:], s.set.GetGeneration())[i] {
			return false
		}
	}
	return !slices.ContainsFunc(s.pods, func(pod *corev1.Pod) bool { _, color := s.stateOf(pod); return color == busy })
}

// stateOf says in a word what becomes of a pod, and in a color how that is to be taken.
func (s *state) stateOf(pod *corev1.Pod) (word, color string) {
	if pod.DeletionTimestamp != nil {
		return "terminating", busy
	}
	for i := range pod.Status.ContainerStatuses { // one may be stuck in what does not pass by itself
		if waiting := pod.Status.ContainerStatuses[i].State.Waiting; waiting != nil && !slices.Contains([]string{"", "ContainerCreating", "PodInitializing"}, waiting.Reason) {
			return waiting.Reason, bad
		}
	}
	switch {
	case readiness.Ready(pod) && s.isUpdated(pod):
		return "ready", good
	case readiness.Ready(pod):
		return "ready", ""
	case podstate.Condition(pod, inplacev1alpha1.InPlaceUpdateReady).Status == corev1.ConditionFalse:
		return "updating", busy
	}
	return "starting", busy
}

func (s *state) isUpdated(pod *corev1.Pod) bool {
	return s.Revisions.Update != nil && revision.Matches(s.revisionOf(pod), s.Revisions.Update.Name)
}

// revisionOf is the name or hash of that of a pod, or of its sidecars.
func (s *state) revisionOf(pod *corev1.Pod) string {
	if s.name == "SidecarSet" {
		return injectedRevision(pod)
	}
	return pod.Labels[appsv1.ControllerRevisionHashLabelKey]
}

func injectedRevision(pod *corev1.Pod) string {
	records, _ := injection.Records(pod, sidecarv1alpha1.SidecarSetHashAnnotation)
	return records[setName].SidecarSetControllerRevision
}

// available tells whether a pod serves, and will go on to.
func available(pod *corev1.Pod) bool { return readiness.Ready(pod) && pod.DeletionTimestamp == nil }

// render shows a workload, and what its plan says.
func render(s *state) []line {
	var text strings.Builder
	bar, colors, updated, ready := "", []string{""}, 0, 0
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD\tREVISION\tIMAGE\tSTATE\tRESTARTS\tNODE\tIP")
	for _, pod := range slices.SortedFunc(slices.Values(s.pods), byName) {
		word, color := s.stateOf(pod)
		if s.isUpdated(pod) {
			updated++
		}
		if available(pod) {
			ready++
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

// imagesOf names that of the only container of a pod, or those of the sidecars before the last one.
func imagesOf(pod *corev1.Pod) string {
	var names []string
	for i := range max(1, len(pod.Spec.Containers)-1) {
		names = append(names, path.Base(pod.Spec.Containers[i].Image))
	}
	return strings.Join(names, " ")
}

// suggestions says what to try when all has been shown.
func (d *demo) suggestions() string {
	kubectl, remark := "kubectl", ""
	if _, err := exec.LookPath(kubectl); err != nil {
		kubectl, remark = "go tool kubectl", ", in examples/ (the first one builds kubectl)"
	}
	object := d.resource.GroupResource().String() + " " + setName // without the group it may be a kind of Kubernetes'
	setImage := func(image string) string { return fmt.Sprintf(`{"op":"add","path":"%s","value":"%s"}`, d.image, image) }
	return strings.NewReplacer("KUBECTL", kubectl+" -n "+d.namespace, "OBJECT", object, "BAD", setImage(badImage), "NEW", setImage(newImage),
		"FILE", strings.ReplaceAll(d.Kubeconfig, "'", `'\''`), "LOGS", filepath.Join(d.dir, "*.log"), "REMARK", remark).Replace(strings.ReplaceAll(`
Everything stays up until Ctrl-C. The logs are LOGS
Commands to try in another terminalREMARK; what they do is shown here:

  export KUBECONFIG='FILE'
1. Roll out an image that does not exist: two pods break, the others are safe.
  KUBECTL patch OBJECT --type=json -p '[BAD]'
2. Roll back: only the two broken pods are changed.
  KUBECTL patch OBJECT --type=json -p '[NEW]'
3. NEXT
`, "NEXT", d.Next))
}
