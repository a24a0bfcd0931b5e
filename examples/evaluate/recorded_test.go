// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// recorded is what a real run of the demo printed, which README shows:
//
//	go run ./evaluate --exit | go run ./evaluate/picture
const recorded = "recorded.txt"

// canned is a CloneSet with its pods and revisions: plans are made by the planner, and what a cluster would do is done at once.
type canned struct {
	story
	set       *v1alpha1.CloneSet
	revisions []*appsv1.ControllerRevision
	names     []string // of pods, in their order
	now       time.Time
}

// settle applies plans until there is nothing to do.
func (c *canned) settle(t *testing.T) *state {
	t.Helper()
	for range 100 {
		c.now = c.now.Add(time.Second)
		plan := cloneset.NewPlan(&cloneset.Snapshot{Set: c.set, Pods: c.list(), Revisions: c.revisions, Now: c.now})
		if plan.Status != nil {
			c.set.Status = *plan.Status
		}
		if created := plan.Revisions.Create; created != nil {
			c.revisions = append(c.revisions, created)
		} else if plan.Empty() && plan.Status == nil {
			s := &state{workload: sets["clonesets"], set: c.set, pods: c.list(), revisions: c.revisions}
			s.plan(c.now)
			return s
		}
		for _, create := range plan.Create {
			c.run(create.Pod.DeepCopy())
		}
		for _, p := range plan.Patch {
			pod, err := p.Patch.Apply(c.pods[p.Pod.Name])
			if err != nil {
				t.Fatal(err)
			}
			c.change(pod.Name, func(old *corev1.Pod) { *old = *pod; observeGates(old) }, kubelet)
		}
	}
	t.Fatal("the canned CloneSet does not settle")
	return nil
}

func (c *canned) list() (pods []*corev1.Pod) {
	for _, name := range c.names {
		pods = append(pods, c.pods[name])
	}
	return pods
}

// run starts a pod on a node.
func (c *canned) run(pod *corev1.Pod) {
	n := len(c.names)
	pod.Name = fmt.Sprintf("web-%05d", n)
	pod.UID = types.UID(fmt.Sprintf("uid-%d", n))
	pod.Spec.NodeName = fmt.Sprintf("node-%d", n%3)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: fmt.Sprintf("10.0.%d.%d", n%3, n),
		Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: oldImage, ImageID: oldImage, ContainerID: "first", Ready: true}},
	}
	c.names = append(c.names, pod.Name)
	c.store(nil, pod)
	c.change(pod.Name, kubelet)
}

// kubelet does to a pod what one does: it restarts a container that has another image, and looks at the readiness gates.
func kubelet(pod *corev1.Pod) {
	if status := &pod.Status.ContainerStatuses[0]; status.Image != pod.Spec.Containers[0].Image {
		restart(pod)
		status.Image, status.ImageID = pod.Spec.Containers[0].Image, pod.Spec.Containers[0].Image
	}
	observeGates(pod)
}

// observeGates makes a pod ready if all of its readiness gates are open.
func observeGates(pod *corev1.Pod) {
	open := corev1.ConditionTrue
	for _, gate := range pod.Spec.ReadinessGates {
		if podstate.Condition(pod, gate.ConditionType).Status != corev1.ConditionTrue {
			open = corev1.ConditionFalse
		}
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status = open
		}
	}
}

// cannedRun returns what the demo prints of a canned run.
func cannedRun(t *testing.T) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	k := kinds["cloneset"]
	d := &demo{kind: k, screen: newScreen(out)}
	c := &canned{story: story{pods: map[string]*corev1.Pod{}}, set: decode(t, k, documents("cloneset")[0]).(*v1alpha1.CloneSet), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.set.UID, c.set.Namespace = "set", "default"
	step := func(title string) {
		if err := d.step(title, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	d.print(line{d.heading(), title}, line{})
	step(fmt.Sprintf(starts, 3))
	step(installs + k.resource.GroupResource().String())
	d.print(line{text: controls})
	// What the steps of the story do.
	half, all := intstr.FromString("50%"), intstr.FromInt32(0)
	edits := []func(){
		func() {},
		func() {
			c.set.Spec.Template.Spec.Containers[0].Image, c.set.Spec.UpdateStrategy.Partition = newImage, &half
		},
		func() { c.set.Spec.UpdateStrategy.Partition = &all },
	}
	var report []line
	for _, a := range k.Acts {
		c.begin()
		for _, s := range a.Steps {
			edits[0]()
			edits, c.set.Generation = edits[1:], c.set.Generation+1
			now := c.settle(t)
			if got := (counts{int64(c.set.Status.Replicas), int64(c.set.Status.AvailableReplicas), int64(c.set.Status.UpdatedReplicas)}); got != s.Want {
				t.Fatalf("%s: counts %v, want %v", s.Title, got, s.Want)
			}
			step(s.Title)
			d.print(append(render(now), line{})...)
		}
		if a.Name != "" {
			lines, err := verdict(a.Name, append(a.checks(c.Changes(), c.since, c.final(), ""), check{true, fmt.Sprintf(keeps, 100)}))
			if err != nil {
				t.Fatalf("%v: %v", err, lines)
			}
			report = append(report, lines...)
		}
	}
	d.print(report...)
	step(cleansUp)
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(printed)
}

// What differs from run to run, and what stands for it: times, names, addresses, and how often something was seen.
var differs = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?m)^ *\d+\.\d s  `), "TIME  "},
	{regexp.MustCompile(`\bweb-[a-z0-9]{5}\b`), "POD"},
	{regexp.MustCompile(`\bnode-\d+\b`), "NODE"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+\b`), "ADDRESS"},
	{regexp.MustCompile(`\b\d+ (states|changes)\b`), "N $1"},
	{regexp.MustCompile(`at most [012] pods were unavailable`), "at most N pods were unavailable"},
	{regexp.MustCompile(`\[[#.]+\]`), "[BAR]"},
	{regexp.MustCompile(`(?m) +$`), ""},
	{regexp.MustCompile(`  +`), "  "},
}

// same returns the lines of a run without what differs from run to run. Lines about pods are in one order.
func same(printed string) []string {
	for _, d := range differs {
		printed = d.pattern.ReplaceAllString(printed, d.instead)
	}
	lines := strings.Split(printed, "\n")
	about := func(line string) string {
		for _, prefix := range []string{"POD  ", "wait POD"} {
			if strings.HasPrefix(line, prefix) && !strings.HasPrefix(line, "POD  REVISION") {
				return prefix
			}
		}
		return ""
	}
	for i := 0; i < len(lines); i++ {
		begin := i
		for about(lines[begin]) != "" && i+1 < len(lines) && about(lines[i+1]) == about(lines[begin]) {
			i++
		}
		slices.Sort(lines[begin : i+1])
	}
	return lines
}

// TestRecorded wants the recorded run, which README shows, to be what the demo prints.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(same(cannedRun(t)), same(string(text))); diff != "" {
		t.Errorf("%s is not what the demo prints; record a run anew (-printed +recorded):\n%s", recorded, diff)
	}
}

// TestCanned wants the canned run to be one: pods get ready, and are updated in place.
func TestCanned(t *testing.T) {
	c := &canned{story: story{pods: map[string]*corev1.Pod{}}, set: decode(t, kinds["cloneset"], documents("cloneset")[0]).(*v1alpha1.CloneSet), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.set.UID, c.set.Namespace, c.set.Generation = "set", "default", 1
	c.settle(t)
	first := c.revisions[0].Name
	c.set.Spec.Template.Spec.Containers[0].Image, c.set.Generation = newImage, 2
	c.settle(t)
	for _, pod := range c.list() {
		if !readiness.Ready(pod) || restarts(pod) != 1 || revision.Matches(pod.Labels[appsv1.ControllerRevisionHashLabelKey], first) {
			t.Errorf("pod %s: ready %t, %d restarts, revision %s", pod.Name, readiness.Ready(pod), restarts(pod), pod.Labels[appsv1.ControllerRevisionHashLabelKey])
		}
	}
}
