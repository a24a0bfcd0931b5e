// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	noon  = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	words = patches.Read("testdata/words.yaml", noon)
)

var daemonKind = v1alpha1.SchemeGroupVersion.WithKind(kind)

// newSet is a DaemonSet whose template is the third, after those of v0 and v1.
func newSet() *v1alpha1.DaemonSet { return patches.Changed(words, &v1alpha1.DaemonSet{}, "web") }

// setOf returns newSet with these lines of YAML in it.
func setOf(t testing.TB, text string) *v1alpha1.DaemonSet {
	t.Helper()
	set := newSet()
	if err := yaml.UnmarshalStrict([]byte(text), set); err != nil {
		t.Fatal(err)
	}
	return set
}

// revisionOf is the revision of the template of an image, "v1" for example.
func revisionOf(t testing.TB, set *v1alpha1.DaemonSet, image string) *appsv1.ControllerRevision {
	t.Helper()
	template := set.Spec.Template.DeepCopy()
	template.Spec.Containers[0].Image = image
	r, err := revision.New(set, daemonKind, template, int64(1+slices.Index(versions, image)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.UID = types.UID("uid-of-" + image)
	return r
}

var versions = []string{"v0", "v1", "v2"}

// place builds a snapshot of a DaemonSet that is updated from v1 to v2, and of nodes with
// their pods in this notation:
//
//	n1 n2:v1 n3:v1+down n3:v2 (gone):v1
//
// A node of the name "tainted…" keeps pods away, and one of the name "evicting…" evicts them. The kubelet of one of the name
// "dead…" is away. One of the name "other…" is of another zone, and one in parentheses is not there. A pod is available, unless
// words of pods say otherwise, which stand in testdata/words.yaml.
func place(t testing.TB, set *v1alpha1.DaemonSet, text string) *Snapshot {
	t.Helper()
	if set.Status.CurrentRevision == "" {
		set.Status.CurrentRevision = revisionOf(t, set, "v1").Name
	}
	s := &Snapshot{Set: set, Now: noon}
	for _, image := range versions {
		s.Revisions = append(s.Revisions, revisionOf(t, set, image))
	}
	seen := map[string]bool{}
	for i, word := range strings.Fields(text) {
		gone := strings.HasPrefix(word, "(")
		word = strings.NewReplacer("(", "", ")", "").Replace(word)
		name, state, hasPod := strings.Cut(word, ":")
		if !gone && !seen[name] {
			seen[name] = true
			s.Nodes = append(s.Nodes, newNode(name))
		}
		if hasPod {
			s.Pods = append(s.Pods, podOn(t, s, name, state, i))
		}
	}
	return s
}

// placeOf is what place builds of the lines of a command, changed by its arguments.
func placeOf(t testing.TB, d *datadriven.TestData) *Snapshot {
	t.Helper()
	nodes, set, _ := strings.Cut(d.Input, "\n")
	s := place(t, setOf(t, set), strings.TrimPrefix(nodes, "none"))
	for _, arg := range d.CmdArgs {
		for _, value := range append(arg.Vals, "")[:max(1, len(arg.Vals))] {
			changeState(s, arg.Key, value)
		}
	}
	return s
}

func newNode(name string) *corev1.Node {
	node := patches.Changed(words, &corev1.Node{}, "new="+name)
	for _, word := range []string{"tainted", "dead", "evicting", "other"} {
		if strings.HasPrefix(name, word) {
			node = patches.Changed(words, node, word)
		}
	}
	return node
}

// podOn is the pod of a node, an hour old and available since but for what state says.
func podOn(t testing.TB, s *Snapshot, node, state string, i int) *corev1.Pod {
	t.Helper()
	parts := strings.Split(state, "+")
	r := revisionOf(t, s.Set, parts[0])
	hourAgo, start := metav1.NewTime(noon.Add(-time.Hour)), metav1.NewTime(noon.Add(-time.Hour+time.Duration(i)*time.Second))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: fmt.Sprintf("%s-%s-%d", node, parts[0], i), UID: types.UID(fmt.Sprint("uid-", i)), ResourceVersion: "1",
		Labels: map[string]string{"app": "web", podplan.RevisionLabel: revision.ShortHash(r.Name)}, CreationTimestamp: start,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s.Set, daemonKind)},
	}}
	template, err := revision.Template(r.Data.Raw)
	if err != nil {
		t.Fatal(err)
	}
	pod.Spec = template.Spec
	pod.Spec.NodeName = node
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "1"}}, Conditions: []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(hourAgo.Add(10 * time.Minute))}}}
	for _, word := range parts[1:] {
		if !strings.Contains(word, "=") {
			word += "=" + node
		}
		if pod = patches.Changed(words, pod, word); word == "sidecar="+node {
			scenario.UpdateSidecar(t, pod, "side", "side:2", noon)
		}
	}
	return pod
}

// state is what words say of a Snapshot.
type state struct {
	Set       *v1alpha1.DaemonSet
	Revisions []*appsv1.ControllerRevision
	Pods      []*corev1.Pod
	Jobs      []string
	BackOff   map[string]time.Time
	Disrupted map[string]bool
	Features  Features

	Taken, RefusedNodes map[string]bool
}

// changeState changes a snapshot by a word of states, or by one of:
//
//	taint=key:effect      is on all nodes
//	gates                 pods have the readiness gate
//	twin                  there is another revision of v2, which the first pod has, or has no more if it is unused
//	named-by-others=hash  only the present revision is there, and has a name and a label as OpenKruise gives them, and so have the pods
func changeState(s *Snapshot, key, value string) {
	pods := func(word string) {
		for i, pod := range s.Pods {
			s.Pods[i] = patches.Changed(words, pod, word)
		}
	}
	switch key {
	case "taint":
		for i, node := range s.Nodes {
			s.Nodes[i] = patches.Changed(words, node, "taint="+value)
		}
	case "gates":
		pods("gated")
	case "twin":
		twin := s.Revisions[2].DeepCopy()
		twin.Name, twin.Revision, twin.UID = "web-twin", 0, "uid-of-twin"
		s.Revisions = append(s.Revisions, twin)
		s.Pods[0].Labels["controller-revision-hash"] = "twin"
	case "unused":
		s.Pods[0].Labels["controller-revision-hash"] = s.Pods[1].Labels["controller-revision-hash"]
	case "named-by-others":
		s.Revisions = s.Revisions[2:]
		s.Revisions[0].Name, s.Revisions[0].Labels = "web-"+value, map[string]string{"app": "web", "controller-revision-hash": value}
		pods("named-by-others=" + value)
		s.Set.Status.CurrentRevision = "" // which OpenKruise does not know
	default:
		after := patches.Changed(words, &state{Set: s.Set, Revisions: s.Revisions, Pods: s.Pods, Jobs: s.Jobs, BackOff: s.BackOff, Disrupted: s.Disrupted,
			Features: s.Features, Taken: s.Taken, RefusedNodes: s.RefusedNodes}, key+"="+value)
		s.Set, s.Revisions, s.Pods, s.Jobs, s.BackOff = after.Set, after.Revisions, after.Pods, after.Jobs, after.BackOff
		s.Disrupted, s.Features, s.Taken, s.RefusedNodes = after.Disrupted, after.Features, after.Taken, after.RefusedNodes
	}
}

// show shows what a plan does about pods, in a line: "+n1 v2" is created, "-n1 Update"
// deleted, "~n1 Kind" changed.
func show(plan *Plan) string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, d := range plan.Delete {
		add("-%s:%s %s", scheduler.NodeOf(d.Pod), d.Pod.Spec.Containers[0].Image, d.For)
	}
	for _, p := range plan.Patch {
		node := scheduler.NodeOf(p.Pod)
		if p.Kind == rollout.PatchPrepare {
			add("!%s", node)
		} else {
			add("~%s %s", node, p.Kind)
		}
	}
	for _, c := range plan.Create {
		add("+%s:%s", scheduler.NodeOf(c.Pod), c.Pod.Spec.Containers[0].Image)
	}
	for _, problem := range plan.Problems {
		add("%s", problem)
	}
	return strings.Join(out, " ")
}

// showStatus shows the numbers of a status.
func showStatus(s *v1alpha1.DaemonSetStatus) string {
	if s == nil {
		return "as it was"
	}
	return fmt.Sprintf("desired=%d current=%d mis=%d ready=%d updated=%d available=%d unavailable=%d", s.DesiredNumberScheduled, s.CurrentNumberScheduled,
		s.NumberMisscheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable, s.NumberUnavailable)
}
