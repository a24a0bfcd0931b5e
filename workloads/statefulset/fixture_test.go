// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// edit changes a snapshot that is being set up.
type edit func(*Snapshot)

// testSnapshot is a StatefulSet named web with pods as the text says. Each word is an ordinal, a letter for the revision, and
// marks for the state.
//
//	0A     available at revision A, whose image is a
//	1B-    not ready
//	2A~    terminating
//	3A!    Failed
//	4A?    Pending
//	5A%    ready for 10 seconds
//	6A^    available, and PreparingDelete
//	7A*    available, without a lifecycle state
//	8A#    of another owner
//	9A@    without a controller
//
// Revisions A, B and C exist as far as pods or the template have them, in this
// order of age. The template is at the revision named first, pods come from the
// one named second.
func testSnapshot(t testing.TB, template, current, pods string, edits ...edit) *Snapshot {
	t.Helper()
	replicas := int32(len(strings.Fields(pods)))
	s := &Snapshot{
		Now: testTime, Claims: map[string]*corev1.PersistentVolumeClaim{},
		Set: &v1beta1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web", Generation: 1, ResourceVersion: "1"},
			Spec: v1beta1.StatefulSetSpec{
				Replicas: &replicas, ServiceName: "svc",
				Selector:            &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				PodManagementPolicy: appsv1.ParallelPodManagement,
				UpdateStrategy:      v1beta1.StatefulSetUpdateStrategy{RollingUpdate: &v1beta1.RollingUpdateStatefulSetStrategy{}},
			},
		},
	}
	for _, letter := range []string{"A", "B", "C"} {
		if letter <= max(template, current) || strings.Contains(pods, letter) {
			s.Revisions = append(s.Revisions, testRevision(t, s.Set, letter))
		}
	}
	for _, word := range strings.Fields(pods) {
		s.Pods = append(s.Pods, testPod(t, s, word))
	}
	s.Set.Spec.Template = testTemplate(template)
	s.Set.Status.CurrentRevision = testName(s, current)
	for _, change := range edits {
		change(s)
	}
	return s
}

func testTemplate(letter string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "main", Image: strings.ToLower(letter)}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}},
		},
	}
}

func testRevision(t testing.TB, set *v1beta1.StatefulSet, letter string) *appsv1.ControllerRevision {
	t.Helper()
	template := testTemplate(letter)
	number := int64(letter[0] - 'A' + 1)
	r, err := revision.New(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), &template, number, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.UID = types.UID("uid-revision-" + letter)
	r.CreationTimestamp = metav1.NewTime(testTime.Add(time.Duration(number-100) * time.Hour))
	return r
}

// testName is the name of a revision by its letter.
func testName(s *Snapshot, letter string) string {
	for _, r := range s.Revisions {
		if r.Revision == int64(letter[0]-'A'+1) {
			return r.Name
		}
	}
	return ""
}

// letterOf is the letter of a revision by its name.
func letterOf(s *Snapshot, name string) string {
	for _, r := range s.Revisions {
		if r.Name == name {
			return string(rune('A' + r.Revision - 1))
		}
	}
	return "?"
}

func testPod(t testing.TB, s *Snapshot, word string) *corev1.Pod {
	t.Helper()
	digits := strings.TrimRight(word, "ABC-~!?%^*#@")
	ordinal, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatalf("pod %q: want an ordinal, a letter and marks", word)
	}
	letter, marks := word[len(digits):len(digits)+1], word[len(digits)+1:]
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.plan.Revisions.Update = s.Revisions[letter[0]-'A']
	p.Planner.Workload = p.workload()
	if err := p.ReadSelector(); err != nil {
		t.Fatal(err)
	}
	template := testTemplate(letter)
	c := p.newCreation()
	c.templates[p.plan.Revisions.Update] = &template
	pod, err := c.newPod(podName("web", ordinal), ordinal, p.plan.Revisions.Update)
	if err != nil {
		t.Fatal(err)
	}
	pod.UID, pod.ResourceVersion = types.UID("uid-"+pod.Name), "7"
	pod.Spec.NodeName = "node-" + digits
	pod.Status.Phase = corev1.PodRunning
	long := metav1.NewTime(testTime.Add(-time.Hour))
	for _, condition := range []corev1.PodConditionType{
		corev1.PodReady, corev1.ContainersReady, inplacev1alpha1.InPlaceUpdateReady, lifecyclev1alpha1.KruisePodReady,
	} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: long})
	}
	for _, mark := range marks {
		markPod(t, pod, mark)
	}
	return pod
}

func markPod(t testing.TB, pod *corev1.Pod, mark rune) {
	t.Helper()
	ready := readiness.Condition(pod, corev1.PodReady)
	switch mark {
	case '-':
		ready.Status = corev1.ConditionFalse
	case '~':
		pod.DeletionTimestamp = &metav1.Time{Time: testTime}
	case '!':
		pod.Status.Phase, ready.Status = corev1.PodFailed, corev1.ConditionFalse
	case '?':
		pod.Status.Phase, ready.Status = corev1.PodPending, corev1.ConditionFalse
	case '%':
		ready.LastTransitionTime = metav1.NewTime(testTime.Add(-10 * time.Second))
	case '^':
		pod.Labels[lifecyclev1alpha1.StateLabel] = string(lifecyclev1alpha1.StatePreparingDelete)
	case '*':
		delete(pod.Labels, lifecyclev1alpha1.StateLabel)
	case '#':
		pod.OwnerReferences[0].UID = "uid-other"
	case '@':
		pod.OwnerReferences = nil
	default:
		t.Fatalf("unknown mark %q", mark)
	}
}

// summary says in one line what a plan does.
func summary(s *Snapshot, p *Plan) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	ordinal := func(name string) string { return strings.TrimPrefix(name, "web-") }
	for _, d := range p.Delete {
		say("delete %s %s", ordinal(d.Pod.Name), d.For)
	}
	for _, patch := range p.Patch {
		say("%s %s", patch.Kind, ordinal(patch.Pod.Name))
	}
	for _, claim := range p.PatchClaims {
		say("own %s", claimOwners(claim))
	}
	for _, d := range p.Delete {
		for _, claim := range d.ChangeClaims {
			say("own %s", claimOwners(claim))
		}
	}
	for _, claim := range p.CreateClaims {
		say("claim %s", claim.Name)
	}
	for _, c := range p.Create {
		letter := letterOf(s, c.Pod.Labels[podplan.RevisionLabel])
		if p.Revisions.Create != nil && c.Pod.Labels[podplan.RevisionLabel] == p.Revisions.Create.Name {
			letter = "new"
		}
		say("create %s%s", ordinal(c.Pod.Name), letter)
	}
	for _, d := range p.Otherwise.Delete {
		say("otherwise delete %s %s", ordinal(d.Pod.Name), d.For)
	}
	for _, patch := range p.Otherwise.Patch {
		say("otherwise %s %s", patch.Kind, ordinal(patch.Pod.Name))
	}
	return strings.Join(parts, ", ")
}

func claimOwners(c rollout.ClaimPatch) string {
	kinds := []string{}
	for _, o := range c.Owners {
		kinds = append(kinds, o.Kind)
	}
	return c.Claim.Name + "=" + strings.Join(kinds, "+")
}

// waits says why pods wait: the rule, and for which pods.
func waits(p *Plan) string {
	byRule := map[string][]string{}
	for _, w := range p.Waiting {
		who := "new"
		if w.Pod != nil {
			who = strings.TrimPrefix(w.Pod.Name, "web-")
		}
		byRule[string(w.Reason.Rule)] = append(byRule[string(w.Reason.Rule)], who)
	}
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(byRule)) {
		parts = append(parts, rule+" "+strings.Join(byRule[rule], " "))
	}
	return strings.Join(parts, ", ")
}

func problems(p *Plan) string {
	var parts []string
	for _, problem := range p.Problems {
		parts = append(parts, fmt.Sprintf("%s: %v", problem.Condition, problem.Err))
	}
	return strings.Join(parts, "\n")
}

func replicas(n int32) edit { return func(s *Snapshot) { s.Set.Spec.Replicas = &n } }

func rolling(change func(*v1beta1.RollingUpdateStatefulSetStrategy)) edit {
	return func(s *Snapshot) { change(s.Set.Spec.UpdateStrategy.RollingUpdate) }
}

func inPlace(policy v1beta1.PodUpdateStrategyType) edit {
	return rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.PodUpdatePolicy = policy })
}
