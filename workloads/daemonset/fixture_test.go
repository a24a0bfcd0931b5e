// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/internal/testing/scenario"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

var daemonKind = v1alpha1.SchemeGroupVersion.WithKind(kind)

func newTemplate(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
	}
}

// newSet is a DaemonSet whose template is the third, after those of v0 and v1.
func newSet() *v1alpha1.DaemonSet {
	return &v1alpha1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", Generation: 1},
		Spec: v1alpha1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: newTemplate("v2"),
		},
	}
}

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
// what follows a plus says otherwise.
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

func newNode(name string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"zone": "a", "name": name}}}
	switch {
	case strings.HasPrefix(name, "tainted"):
		node.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
	case strings.HasPrefix(name, "dead"):
		node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}}
	case strings.HasPrefix(name, "evicting"):
		node.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoExecute}}
	case strings.HasPrefix(name, "other"):
		node.Labels["zone"] = "b"
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
	for _, part := range parts[1:] {
		alter(t, pod, part)
	}
	return pod
}

func alter(t testing.TB, pod *corev1.Pod, part string) {
	t.Helper()
	ready := &corev1.PodCondition{}
	if len(pod.Status.Conditions) > 0 {
		ready = &pod.Status.Conditions[0]
	}
	key, value, _ := strings.Cut(part, "=")
	switch key {
	case "down": // it was available, and its kubelet restarted
		ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(noon.Add(-time.Minute))
	case "back": // it is ready again since a moment ago
		ready.LastTransitionTime = metav1.NewTime(noon.Add(-time.Second))
	case "young": // it became ready as soon as it was there, a moment ago
		start := metav1.NewTime(noon.Add(-2 * time.Second))
		pod.CreationTimestamp, ready.LastTransitionTime = start, metav1.NewTime(noon.Add(-time.Second))
	case "never": // it has never been ready
		ready.Status, ready.LastTransitionTime = corev1.ConditionFalse, pod.CreationTimestamp
	case "pulling": // its image is pulled, since long
		ready.Status, pod.Status.ContainerStatuses = corev1.ConditionFalse, nil
	case "pending":
		pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
		nodefit.Pin(&pod.Spec, strings.Split(pod.Name, "-")[0])
	case "nowhere": // whatever changes new pods has taken its node from it
		pod.Name, pod.Spec.NodeName, pod.Status = "lost", "", corev1.PodStatus{Phase: corev1.PodPending}
	case "beside": // it has put something beside its node
		nodefit.Pin(&pod.Spec, pod.Spec.NodeName)
		pod.Spec.NodeName = ""
		term := &pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]
		term.MatchExpressions = []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"gpu"}}}
	case "preparing":
		pod.Labels[lifecyclev1alpha1.StateLabel] = string(lifecyclev1alpha1.StatePreparingDelete)
	case "leaving":
		pod.DeletionTimestamp = &metav1.Time{Time: noon}
	case "Failed", "Succeeded":
		pod.Status.Phase = corev1.PodPhase(key)
		ready.Status = corev1.ConditionFalse
	case "gate":
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionTrue, LastTransitionTime: pod.CreationTimestamp})
	case "sidecar": // a SidecarSet updates it
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "side", Image: "side:1"})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "side", Image: "side:1", ImageID: "1", ContainerID: "2", Ready: true})
		scenario.UpdateSidecar(t, pod, "side", "side:2", noon)
	case "hook":
		pod.Labels["hook"] = "true"
	case "orphan":
		pod.OwnerReferences = nil
	case "stranger":
		pod.OwnerReferences[0].UID = "another"
	case "app":
		pod.Labels["app"] = value
	default:
		t.Fatalf("unknown %q", part)
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
