// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestUpdates plays what happens to a pod, in testdata/updates. Each command begins with a pod that runs well. It has the containers c1, c2 and c3 with the
// images c1:1, c2:1 and c3:1, the label k=v and the annotation a=b. After "pod resize" updates may change cpu and memory. The lines below are steps.
// Times are since the start of updates. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	template change…       makes the pod of another template. Changes are the words in testdata/words.yaml: c1=image, label=k:v, cpu-c1=2 and so on
//	begin change…          updates it to the first template with changes; also grace=seconds, at=seconds, revision=name, and none for no update.
//	                       With unsent the manager ends before it asks for resources
//	feasible change…       shows what stands against that, and what Begin says if it says otherwise
//	serves change…         shows whether it keeps serving
//	refresh time           goes on, and shows how far the update is and what is written
//	complete               shows what the update waits for, and what Refresh says if it says otherwise
//	finish                 lets the node act and the update go on until it ends, and shows its batches
//	resized                takes note of what the API server has stored
//	unresized [refusal]    shows why it does not get its resources
//	writes, data, images, cpu, conditions, metadata, state, grace, show
//
// What happens on the node is in [podScript.node], and what another manager does in [podScript.beside].
func TestUpdates(t *testing.T) {
	datadriven.Walk(t, "testdata/updates", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := &podScript{t: t, resize: d.HasArg("resize")}
			s.restart()
			for line := range strings.SplitSeq(d.Input, "\n") {
				verb, rest, _ := strings.Cut(line, " ")
				if !s.update(verb, rest) && !s.beside(verb, rest) && !s.node(verb, rest) && !s.show(verb) {
					d.Fatalf(t, "unknown step %s", line)
				}
			}
			return s.out.String()
		})
	})
}

// podScript is a pod and the manager that updates it.
type podScript struct {
	t        *testing.T
	out      strings.Builder
	resize   bool
	base     []string // changes of the template that the pod is made of
	template *corev1.PodTemplateSpec
	pod      *corev1.Pod
	last     podpatch.Patch
	writes   []podpatch.Write
	record   *v1alpha1.State // of another manager
}

// restart makes the pod anew.
func (s *podScript) restart() {
	s.record = &v1alpha1.State{}
	s.template = template(s.base...)
	s.pod = running(s.template)
}

func (s *podScript) print(format string, args ...any) {
	fmt.Fprintln(&s.out, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

func (s *podScript) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// target is what a line asks for.
type target struct {
	changes  []string
	begin    inplace.BeginOptions
	revision string
	none     bool
	unsent   bool
}

func (s *podScript) read(line string) target {
	to := target{begin: inplace.BeginOptions{Now: start()}, revision: "demo-new"}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "grace":
			to.begin.GracePeriodSeconds = int32(patches.Number(s.t, value))
		case "at":
			to.begin.Now = after(patches.Number(s.t, value))
		case "revision":
			to.revision = value
		case "none":
			to.none = true
		case "unsent":
			to.unsent = true
		default:
			to.changes = append(to.changes, word)
		}
	}
	return to
}

// index is that of a container in the template.
func (s *podScript) index(container string) int {
	return patches.Number(s.t, strings.TrimPrefix(container, "c")) - 1
}

// calculate is the update that a line asks for, and the template after it.
func (s *podScript) calculate(line string) (*inplace.Update, *corev1.PodTemplateSpec, target) {
	to := s.read(line)
	if to.none {
		return nil, s.template, to
	}
	next := template(append(s.base[:len(s.base):len(s.base)], to.changes...)...)
	u, obstacles, err := inplace.Calculate(rev(s.t, "demo-old", s.template), rev(s.t, to.revision, next), inplace.CalculateOptions{Resize: s.resize})
	if s.must(err); u == nil {
		s.t.Fatal("not possible in place: ", obstacles)
	}
	return u, next, to
}

// update plays the steps of the manager.
func (s *podScript) update(verb, rest string) bool {
	switch verb {
	case "template":
		s.base = s.read(rest).changes
		s.restart()
	case "begin":
		s.begin(rest)
	case "feasible":
		s.feasible(rest)
	case "serves":
		u, _, _ := s.calculate(rest)
		s.print("%t", inplace.KeepsServing(s.pod, u))
	case "refresh":
		at, err := time.ParseDuration(rest)
		s.must(err)
		s.refresh(start().Add(at))
	case "complete":
		s.complete()
	case "finish":
		s.finish()
	case "resized":
		var p podpatch.Patch
		s.must(inplace.Resized(&p, s.pod))
		s.send(p)
	case "unresized":
		var refused error
		if rest != "" {
			refused = errors.New(rest)
		}
		s.print("%s", strings.TrimSpace("unresized: "+inplace.Unresized(s.pod, refused)))
	default:
		return false
	}
	return true
}

// begin updates the pod. That changes neither the pod as it was read nor the update, which many pods share.
func (s *podScript) begin(line string) {
	u, next, to := s.calculate(line)
	before, shared := s.pod.DeepCopy(), patches.JSON(s.t, u)
	var p podpatch.Patch
	s.must(inplace.Begin(&p, s.pod, u, to.begin))
	if diff := cmp.Diff(before, s.pod); diff != "" || shared != patches.JSON(s.t, u) {
		s.t.Errorf("the pod was changed: %s; the update is %s, and was %s", diff, patches.JSON(s.t, u), shared)
	}
	p.SetLabel(appsv1.ControllerRevisionHashLabelKey, u.Revision)
	if to.unsent {
		p.Resources = nil
	}
	s.template = next
	s.send(p)
}

func (s *podScript) send(p podpatch.Patch) {
	var err error
	s.last = p
	s.writes, err = p.Writes(s.pod)
	s.must(err)
	s.pod = apply(s.t, s.pod, p)
}

func (s *podScript) feasible(line string) {
	u, _, to := s.calculate(line)
	words := func(err error) string {
		if err == nil {
			return "feasible"
		}
		return err.Error()
	}
	var p podpatch.Patch
	feasible, begin := words(inplace.Feasible(s.pod, u)), words(inplace.Begin(&p, s.pod, u, to.begin))
	if s.print("%s", feasible); begin != feasible {
		s.print("Begin: %s", begin)
	}
	if begin != "feasible" && !p.Empty() {
		s.t.Errorf("something is to be written: %v", p)
	}
}

// refresh goes on with the update. If it is complete, the next time there is nothing to write.
func (s *podScript) refresh(now time.Time) {
	var p podpatch.Patch
	progress, err := inplace.Refresh(&p, s.pod, now)
	s.send(p)
	if err != nil {
		s.print("%v; writes %s", err, s.written())
		return
	}
	if progress.Complete != (progress.Waiting == "") {
		s.t.Errorf("complete %t, and waits for %q", progress.Complete, progress.Waiting)
	}
	s.print("%s; writes %s", progressWords(progress), s.written())
	if !progress.Complete {
		return
	}
	var again podpatch.Patch
	if progress, err := inplace.Refresh(&again, s.pod, now.Add(time.Second)); err != nil || !progress.Complete || again.Changes(s.pod) || len(again.Conditions) > 0 {
		s.t.Errorf("the next reconcile says %v, %v, and writes %v", progress, err, again)
	}
}

func progressWords(p inplace.Progress) string {
	words := p.String()
	if p.Resizing != "" {
		words += "; resize " + string(p.Resizing)
	}
	if p.InService {
		words += "; in service"
	}
	if p.GoBack != "" {
		words += "; goes back to " + p.GoBack
	}
	if p.RequeueAfter != 0 {
		words += "; again in " + p.RequeueAfter.String()
	}
	return words
}

func (s *podScript) complete() {
	complete, waiting, err := inplace.Complete(s.pod)
	if err != nil {
		s.print("%v", err)
		return
	}
	if complete != (waiting == "") {
		s.t.Errorf("complete %t, and waits for %q", complete, waiting)
	}
	said := inplace.Progress{Complete: complete, Waiting: waiting}.String()
	s.print("%s", said)
	progress, err := inplace.Refresh(&podpatch.Patch{}, s.pod, after(60))
	if err != nil {
		s.print("Refresh: %v", err)
	} else if progress.String() != said {
		s.print("Refresh: %s", progress)
	}
}

func (s *podScript) finish() {
	for range 5 {
		kubelet(s.pod)
		agent(s.t, s.pod)
		s.pod, _ = refresh(s.t, s.pod, after(60))
	}
	var batches []string
	for _, b := range state(s.t, s.pod).ContainerBatchesRecord {
		batches = append(batches, strings.Join(b.Containers, ","))
	}
	s.print("%s", strings.Join(batches, " | "))
	want := running(s.template)
	if diff := cmp.Diff([]any{want.Annotations["a"], want.Labels["k"], images(want)}, []any{s.pod.Annotations["a"], s.pod.Labels["k"], images(s.pod)}); diff != "" {
		s.t.Errorf("the pod is not as its template (-want +got):\n%s", diff)
	}
}

// IP-13: what is recorded of a pod whose images are never pulled does not grow with its updates.
func TestRecordedImagesAreLimited(t *testing.T) {
	pod, most := running(template()), 0
	for i := range 100 {
		u := calculate(t, template(), template("c1=c1:build-"+strconv.Itoa(i)))
		u.Revision = "demo-" + strconv.Itoa(i)
		pod = begin(t, pod, u, 0)
		recorded := state(t, pod).LastContainers["c1"].Images
		if most = max(most, len(recorded)); recorded[0] != "c1:1" {
			t.Fatalf("the container runs c1:1, recorded are %v", recorded)
		}
	}
	if most != 10 {
		t.Errorf("up to %d images are recorded, want 10", most)
	}
}
