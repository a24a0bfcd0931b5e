// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/faults/invariants"
	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// What the manifests say.
const replicas, maxUnavailable = 10, 2

// promises are those of an act.
func promises(kind, name string) []promise {
	acts := kinds[kind].Acts
	return acts[slices.IndexFunc(acts, func(a act) bool { return a.Name == name })].Promises
}

// inPlace are those of an update of ten pods.
func inPlace() []promise { return promises("cloneset", "The update") }

// story is what became of pods, and the pods as the API server has them.
type story struct {
	podhistory.History
	since, version int
	pods           map[string]*corev1.Pod
}

// newStory begins an act with ten pods that are ready.
func newStory() *story {
	h := &story{pods: map[string]*corev1.Pod{}}
	for i := range replicas {
		h.create(fmt.Sprintf("web-%d", i))
	}
	h.begin()
	return h
}

// begin begins an act.
func (h *story) begin() { h.since = len(h.Changes()) }

// final are the pods that there are.
func (h *story) final() (final []corev1.Pod) {
	for _, pod := range h.pods {
		final = append(final, *pod)
	}
	return final
}

func (h *story) create(name string) { h.store(nil, h.newPod(name)) }

func (h *story) newPod(name string) *corev1.Pod {
	controller := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + fmt.Sprint(h.version)), OwnerReferences: []metav1.OwnerReference{{Kind: "CloneSet", Name: setName, UID: "set", Controller: &controller}}},
		Spec:       corev1.PodSpec{NodeName: "node-0", Containers: []corev1.Container{{Name: "main", Image: oldImage}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0." + fmt.Sprint(len(h.pods)), Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "first"}},
		},
	}
}

func (h *story) store(old, new *corev1.Pod) {
	h.version++
	switch {
	case new == nil:
		delete(h.pods, old.Name)
		h.Observe(nil, &old, nil, "", false)
	case old == nil:
		h.pods[new.Name] = new
		h.Observe(nil, nil, &new, "", false)
	default:
		h.pods[new.Name] = new
		h.Observe(nil, &old, &new, "", false)
	}
}

func (h *story) change(name string, edits ...func(*corev1.Pod)) {
	for _, edit := range edits {
		pod := h.pods[name].DeepCopy()
		edit(pod)
		h.store(h.pods[name], pod)
	}
}

func ready(status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Conditions[0].Status = status }
}

func setTo(image string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = image }
}

func restart(pod *corev1.Pod) {
	status := &pod.Status.ContainerStatuses[0]
	status.RestartCount++
	status.ContainerID = fmt.Sprint("after restart ", status.RestartCount)
}

// update moves pods in place, one after the other.
func (h *story) update(names ...string) {
	for _, name := range names {
		h.change(name, ready("False"), setTo(newImage), restart, ready("True"))
	}
}

func (h *story) all() []string {
	var names []string
	for i := range replicas {
		names = append(names, fmt.Sprintf("web-%d", i))
	}
	return names
}

func (h *story) checks(promises ...promise) []check {
	return (&act{Promises: promises, Pods: replicas, Missing: maxUnavailable}).checks(h.Changes(), h.since, h.final(), "")
}

// failed are the texts of the checks that failed.
func failed(checks []check) (texts []string) {
	for _, c := range checks {
		if !c.ok {
			texts = append(texts, c.text)
		}
	}
	return texts
}

// compareTexts wants texts that begin like this.
func compareTexts(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.EqualFunc(want, got, func(want, got string) bool { return strings.HasPrefix(got, want) }) {
		t.Errorf("failed checks:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGoodUpdate(t *testing.T) {
	h := newStory()
	h.update(h.all()...)
	want := []check{
		{true, "10 of 10 pods kept their name and UID, and there were no others"},
		{true, "10 of 10 pods kept their node and their IP"},
		{true, "at most 1 pods were unavailable at any moment (allowed: 2; 40 states)"},
		{true, "10 of 10 containers restarted in place, none of them twice"},
		{true, "10 of 10 pods are Ready with the image busybox:1.37"},
		{true, "10 of 10 pods were not Ready while their container was exchanged"},
	}
	if diff := cmp.Diff(want, h.checks(inPlace()...), cmp.AllowUnexported(check{})); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

func TestBrokenUpdates(t *testing.T) {
	cases := map[string]struct {
		during func(*story)
		want   []string // of failed checks, in order
	}{
		"nothing is seen": {func(h *story) {
			for _, pod := range h.pods {
				setTo(newImage)(pod)
				restart(pod)
			}
			h.History, h.since = podhistory.History{}, 0
		}, []string{
			"0 of 10 pods kept their name and UID, and there were no others; not: web-0, web-1, web-2, web-3, web-4, web-5, web-6, web-7, web-8, web-9",
			"0 of 10 pods kept", "at most 10 pods were unavailable at any moment (allowed: 2; 0 states)", "0 of 10 containers", "0 of 10 pods are Ready",
			"0 of 10 pods were not Ready",
		}},
		"nothing is seen of the update": {func(h *story) {
			for name, pod := range h.pods {
				pod = pod.DeepCopy()
				setTo(newImage)(pod)
				restart(pod)
				h.pods[name] = pod
			}
		}, []string{"0 of 10 pods were not Ready"}},
		"a pod is gone, and no watch has told": {func(h *story) {
			h.update(h.all()...)
			delete(h.pods, "web-0")
		}, []string{
			"9 of 10 pods kept their name and UID, and there were no others; not: web-0", "9 of 10 pods kept their node and their IP; not: web-0",
			"9 of 10 containers restarted in place, none of them twice; not: web-0", "9 of 10 pods are Ready with the image busybox:1.37; not: web-0",
			"9 of 10 pods were not Ready while their container was exchanged; not: web-0",
		}},
		"a pod is replaced": {func(h *story) {
			h.update(h.all()[1:]...)
			h.store(h.pods["web-0"], nil)
			h.create("web-0")
			h.change("web-0", setTo(newImage))
		}, []string{
			"9 of 10 pods kept their name and UID, and there were no others; not: web-0, web-0", "9 of 10 pods kept their node and their IP; not: web-0",
			"9 of 10 containers restarted in place, none of them twice; not: web-0", "9 of 10 pods are Ready", "9 of 10 pods were not Ready",
		}},
		"a pod comes and goes": {func(h *story) {
			h.create("web-x")
			h.store(h.pods["web-x"], nil)
			h.update(h.all()...)
		}, []string{"10 of 10 pods kept their name and UID, and there were no others; not: web-x"}},
		"a pod is elsewhere for a moment": {func(h *story) {
			h.update(h.all()...)
			h.change("web-3", func(pod *corev1.Pod) { pod.Status.PodIP = "10.0.0.99" }, func(pod *corev1.Pod) { pod.Status.PodIP = "10.0.0.3" })
		}, []string{"9 of 10 pods kept their node and their IP; not: web-3"}},
		"a pod serves before its container is exchanged": {func(h *story) {
			h.update(h.all()[1:]...)
			h.change("web-0", setTo(newImage), ready("False"), restart, ready("True"))
		}, []string{"9 of 10 pods were not Ready while their container was exchanged; not: web-0"}},
		"a container restarts twice": {func(h *story) { h.update(h.all()...); h.change("web-4", restart) }, []string{
			"9 of 10 containers restarted in place, none of them twice; not: web-4",
		}},
		"a pod is not updated": {func(h *story) { h.update(h.all()[1:]...) }, []string{
			"9 of 10 containers restarted in place, none of them twice", "9 of 10 pods are Ready with the image busybox:1.37; not: web-0",
			"9 of 10 pods were not Ready",
		}},
		"a pod is not ready in the end": {func(h *story) { h.update(h.all()...); h.change("web-5", ready("False")) }, []string{
			"9 of 10 pods are Ready with the image busybox:1.37; not: web-5",
		}},
		"a container restarts without another one being there": {func(h *story) {
			h.update(h.all()...)
			h.change("web-6", func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].ContainerID = "first" })
		}, []string{"9 of 10 pods are Ready with the image busybox:1.37; not: web-6"}},
		"three pods are unavailable for a moment": {func(h *story) {
			for _, name := range []string{"web-0", "web-1", "web-2"} {
				h.change(name, ready("False"))
			}
			h.change("web-0", ready("True"))
			h.update(h.all()...)
		}, []string{"at most 3 pods were unavailable at any moment (allowed: 2; 44 states)"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newStory()
			c.during(h)
			compareTexts(t, c.want, failed(h.checks(inPlace()...)))
		})
	}
}

// Of a bad image and its roll-back, two pods take part.
func TestRollBack(t *testing.T) {
	h := newStory()
	h.update(h.all()...)
	h.begin()
	for _, name := range []string{"web-8", "web-9"} {
		h.change(name, ready("False"), setTo(badImage))
	}
	for _, name := range []string{"web-8", "web-9"} {
		h.change(name, setTo(newImage), restart, ready("True"))
	}
	of := promises("statefulset", "The bad image and its roll-back")
	compareTexts(t, nil, failed(h.checks(of...)))
	of = slices.Clone(of)
	of[0].Pods, of[2].Pods = 3, 3
	compareTexts(t, []string{"2 of 10 containers restarted", "2 of 10 pods were not Ready"}, failed(h.checks(of...)))
}

// A drain moves pods, and never has more of them unavailable than it may.
func TestDrainIsChecked(t *testing.T) {
	condition := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"}
	evicted := func(pod *corev1.Pod) { pod.Status.Conditions = append(pod.Status.Conditions, condition) }
	leaving := func(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }
	elsewhere := func(h *story, name string) {
		pod := h.newPod(name)
		pod.Spec.NodeName = "node-1"
		h.store(nil, pod)
	}
	going := func(h *story, edits ...func(*corev1.Pod)) {
		h.change("web-0", append(edits, leaving)...)
		h.store(h.pods["web-0"], nil)
	}
	for name, c := range map[string]struct {
		during  func(*story)
		missing int
		want    []string
	}{
		"another one serves first":              {func(h *story) { elsewhere(h, "web-a"); going(h, evicted) }, 0, nil},
		"another one serves too late":           {func(h *story) { going(h, evicted); elsewhere(h, "web-a") }, 0, []string{"at most 1 pods were unavailable"}},
		"one may be missing":                    {func(h *story) { going(h, evicted); elsewhere(h, "web-a") }, 1, nil},
		"deleted":                               {func(h *story) { elsewhere(h, "web-a"); going(h) }, 0, []string{"0 of 10 pods were on the node, and were evicted; not: web-0"}},
		"nothing is evicted":                    {func(h *story) {}, 0, []string{"0 of 10 pods were on the node, and were evicted; not: web-0"}},
		"no pod comes":                          {func(h *story) { going(h, evicted) }, 1, []string{"9 of 10 pods are Ready"}},
		"another one does not serve in the end": {func(h *story) { elsewhere(h, "web-a"); going(h, evicted); h.change("web-a", ready("False")) }, 1, []string{"9 of 10 pods are Ready; not: web-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newStory()
			for i, name := range h.all() {
				h.change(name, func(pod *corev1.Pod) { pod.Spec.NodeName = fmt.Sprint("node-", min(i, 1)) })
			}
			h.begin()
			c.during(h)
			act := act{Moves: true, Pods: replicas, Missing: c.missing, Promises: promises("budget", "The drain of a node of ten pods")}
			compareTexts(t, c.want, failed(act.checks(h.Changes(), h.since, h.final(), "node-0")))
		})
	}
}

// What the invariants of the simulation forbid fails the check of the record, and shows in the verdict.
func TestRecordIsChecked(t *testing.T) {
	o := &observer{record: invariants.NewRecord()}
	set := decode(t, kinds["cloneset"], documents("cloneset")[0])
	set.SetUID("set")
	set.SetGeneration(1)
	invariants.Observe[metav1.Object](o.record)(nil, nil, &set, "1", false)
	stranger := newStory().pods["web-0"].DeepCopy()
	stranger.Spec.Containers[0].Image = "nobody:wants"
	o.see(nil, nil, &stranger, "2", false)
	c := o.review()
	if c.ok || !strings.HasPrefix(c.text, "2 changes") || !strings.Contains(c.text, "which no spec asks for") || len(o.history.Changes()) != 1 {
		t.Errorf("a pod with an unknown image: %+v; %d changes of pods", c, len(o.history.Changes()))
	}
	lines, err := verdict("The update", []check{{true, "this holds"}, c})
	if err != errChecks || lines[2].text != "  ok      this holds" || !strings.HasPrefix(lines[3].text, "  FAILED  ") {
		t.Errorf("error %v, lines %q", err, lines)
	}
}

func TestRender(t *testing.T) {
	h := newStory()
	s := &state{workload: sets["clonesets"]}
	for _, name := range h.all()[:4] {
		s.pods = append(s.pods, h.pods[name])
	}
	s.pods[0].Status.Conditions = nil
	s.pods[0].Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}
	s.pods[1].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: "False"}, {Type: inplacev1alpha1.InPlaceUpdateReady, Status: "False"}}
	s.Waiting = []rollout.Wait{rollout.PodWaits(s.pods[2], &rollout.Reason{Message: "partition 2"}), rollout.PodWaits(nil, &rollout.Reason{Message: "quota"})}
	s.Problems = []rollout.Problem{{Err: errors.New("spec.selector: is empty")}}
	var got []string
	for _, l := range render(s) {
		got = append(got, l.color+"|"+l.text)
	}
	want := []string{
		"|[!~..] 4 pods, 0 updated, 2 ready",
		"|POD    REVISION  IMAGE         STATE         RESTARTS  NODE    IP",
		"31|web-0            busybox:1.36  ErrImagePull  0         node-0  10.0.0.0",
		"33|web-1            busybox:1.36  updating      0         node-0  10.0.0.1",
		"|web-2            busybox:1.36  ready         0         node-0  10.0.0.2",
		"|web-3            busybox:1.36  ready         0         node-0  10.0.0.3",
	}
	for row := range strings.Lines("The plan now:\n" + s.Plan.String()) {
		want = append(want, "|"+strings.TrimSpace(row))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := s.Plan.String(); !strings.Contains(got, "wait web-2: partition 2") || !strings.Contains(got, "spec.selector: is empty") {
		t.Errorf("the plan in words: %s", got)
	}
}

// What is drawn is drawn over on a terminal, and elsewhere only what is kept is written.
func TestScreen(t *testing.T) {
	for live, want := range map[bool]string{
		false: "a\n   0.0 s  works\nend\n",
		true:  "a\n{first\n}<{second\nand more\n}<<{  ...     works\n}<{}   0.0 s  works\n{  ...     fails\n}<{}end\n",
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		s := newScreen(out)
		s.live = live
		s.print(line{text: "a"})
		s.draw(line{text: "first"})
		s.draw(line{text: "second"}, line{text: "and more"})
		s.draw(line{text: "second"}, line{text: "and more"})
		if err := s.step("works", func() error { return nil }); err != nil {
			t.Error(err)
		}
		failure := errors.New("it fails")
		if err := s.step("fails", func() error { return failure }); err != failure {
			t.Errorf("got error %v", err)
		}
		s.print(line{text: "end", color: good})
		data, err := os.ReadFile(out.Name())
		got := strings.NewReplacer("\x1b[1A\r\x1b[J", "<", "\x1b[2A\r\x1b[J", "<<", "\x1b[?7l", "{", "\x1b[?7h", "}").Replace(string(data))
		if err != nil || got != want {
			t.Errorf("live %t: got %q, error %v; want %q", live, got, err, want)
		}
	}
}
