// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var testTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type podEdit func(*corev1.Pod)

// testPod is an available pod of the set with the UID set.
func testPod(name, revision string, edits ...podEdit) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name),
			Labels: map[string]string{"app": "web", revisionLabel: "web-" + revision,
				v1alpha1.CloneSetInstanceIDLabel: name[len("web-"):], appsv1.StatefulSetPodNameLabel: name, appsv1.PodIndexLabel: name[len("web-"):]},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Set", Name: "web", UID: "set", Controller: ptr.To(true)}},
		},
		Spec: corev1.PodSpec{NodeName: "node", Hostname: name, Containers: []corev1.Container{{Name: "main", Image: "nginx:" + revision}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(testTime.Add(-time.Minute))}}},
	}
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func notReady(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
func disowned(p *corev1.Pod) { p.OwnerReferences = nil }
func failed(p *corev1.Pod)   { p.Status.Phase = corev1.PodFailed }
func going(p *corev1.Pod)    { p.DeletionTimestamp = &metav1.Time{Time: testTime} }
func replaced(p *corev1.Pod) { p.UID = "another"; p.OwnerReferences = nil }

func labelled(key, value string) podEdit {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

// at returns the pod in another state, as a write leaves it.
func at(pod *corev1.Pod, edits ...podEdit) *corev1.Pod {
	pod = pod.DeepCopy()
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

// testRevision is a revision of the template of an image.
func testRevision(n int64, revision string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-" + revision, Labels: map[string]string{"app": "web"}}, Revision: n,
		Data: runtime.RawExtension{Raw: []byte(`{"spec":{"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"nginx:` + revision + `"}]}}}}`)},
	}
}

// testState is what there is: a set of the template b, updated from a, and pods.
func testState(set Object, pods ...*corev1.Pod) *State {
	s := &State{Now: testTime, Workload: set, Pods: map[string]*corev1.Pod{}, Claims: map[string]*corev1.PersistentVolumeClaim{},
		Revisions: map[string]*appsv1.ControllerRevision{"web-a": testRevision(1, "a"), "web-b": testRevision(2, "b")}}
	for _, pod := range pods {
		s.Pods[pod.Name] = pod
	}
	return s
}

// testTemplate is the template of revision b.
var testTemplate = imageTemplate("b")

func imageTemplate(revision string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:" + revision}}},
	}
}

// broken lists the invariants that a write breaks, each once and in order.
func broken(violations []Violation) (names []Invariant) {
	for _, v := range violations {
		if len(names) == 0 || names[len(names)-1] != v.Invariant {
			names = append(names, v.Invariant)
		}
	}
	return names
}

func cloneSet(replicas int32, edits ...func(*v1alpha1.CloneSetSpec)) *v1alpha1.CloneSet {
	set := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
	set.Spec = v1alpha1.CloneSetSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: testTemplate,
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
			Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: ptr.To(intstr.FromInt32(1))},
	}
	set.Status.CurrentRevision = "web-a"
	for _, edit := range edits {
		edit(&set.Spec)
	}
	return set
}

func TestCloneSet(t *testing.T) {
	paused := func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.Paused = true }
	partition := func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.Partition = ptr.To(intstr.FromInt32(3)) }
	surge := func(s *v1alpha1.CloneSetSpec) { s.UpdateStrategy.MaxSurge = ptr.To(intstr.FromInt32(1)) }
	minReady := func(s *v1alpha1.CloneSetSpec) { s.MinReadySeconds = 90 }
	unheld := func(s *v1alpha1.CloneSetSpec) { s.Template = imageTemplate("c") }
	slowly := func(s *v1alpha1.CloneSetSpec) { s.ScaleStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(1)) }
	unreadable := func(s *v1alpha1.CloneSetSpec) { s.Selector = nil }
	hooked := func(s *v1alpha1.CloneSetSpec) {
		hook := &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{"hold": "true"}}
		s.Lifecycle = &lifecyclev1alpha1.Lifecycle{PreDelete: hook, InPlaceUpdate: hook}
	}
	a, b, c := testPod("web-a1", "a"), testPod("web-b1", "a"), testPod("web-c1", "a")
	specified := testPod("web-p1", "a", labelled(lifecyclev1alpha1.SpecifiedDeleteLabel, ""))
	inPlace := []podEdit{labelled(revisionLabel, "web-b"), func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:b" }}
	for _, tt := range []struct {
		name          string
		set           *v1alpha1.CloneSet
		known         []*corev1.Pod
		verb          string
		before, after *corev1.Pod
		want          []Invariant
	}{
		{"CS-12: a missing pod is created", cloneSet(3), pods(a, b), "create", nil, testPod("web-n1", "b"), nil},
		{"CS-12: one too many", cloneSet(3), pods(a, b, c), "create", nil, testPod("web-n1", "b"), []Invariant{Surge}},
		{"CS-10: beyond replicas, within maxSurge", cloneSet(3, surge), pods(a, b, c), "create", nil, testPod("web-n1", "b"), nil},
		{"CS-12: failed pods do not count", cloneSet(3), pods(a, b, at(c, failed)), "create", nil, testPod("web-n1", "b"), nil},
		{"CS-12: too many that come up", cloneSet(3, slowly), pods(a, at(b, notReady)), "create", nil, testPod("web-n1", "b"), []Invariant{ScaleRate}},
		{"CS-17: an old pod although none is missing", cloneSet(3), pods(a, b), "create", nil, testPod("web-n1", "a"), []Invariant{Partition}},
		{"CS-17: an old pod where the partition wants it", cloneSet(3, partition), pods(a, b), "create", nil, testPod("web-n1", "a"), nil},
		{"CS-17: a new pod where the partition wants old ones", cloneSet(3, partition), pods(a, b), "create", nil, testPod("web-n1", "b"), []Invariant{Partition}},
		{"CS-18: an instance id that another pod has", cloneSet(3), pods(a), "create", nil,
			testPod("web-n1", "b", labelled(v1alpha1.CloneSetInstanceIDLabel, "a1")), []Invariant{Identity}},
		{"CS-22: a pod marked for deletion goes", cloneSet(4), pods(a, b, c, specified), "delete", specified, at(specified, going), nil},
		{"CS-22: not when another one is missing", cloneSet(4), pods(a, b, at(c, notReady), specified), "delete", specified, at(specified, going), []Invariant{Availability}},
		{"CS-22: a pod that is ready for too short does not count", cloneSet(4, minReady), pods(at(a, youngFor(91)), at(b, youngFor(91)), c, at(specified, youngFor(91))),
			"delete", at(specified, youngFor(91)), at(specified, youngFor(91), going), []Invariant{Availability}},
		{"CS-23: a pod that nobody wants to go", cloneSet(2, paused), pods(a, b), "delete", a, at(a, going), []Invariant{Paused}},
		{"CS-23: a surplus pod", cloneSet(2), pods(a, b, c), "delete", a, at(a, going), nil},
		{"CS-31: one that surges and is ready for too short", cloneSet(2, surge, minReady), pods(a, b, c), "delete", a, at(a, going), []Invariant{Availability}},
		{"CT-9: a surplus one, while no revision holds the template", cloneSet(2, surge, minReady, unheld), pods(a, b, c), "delete", a, at(a, going), nil},
		{"CS-26: paused", cloneSet(3, paused), pods(a, b, c), "patch", a, at(a, inPlace...), []Invariant{Paused}},
		{"CS-27: the partition", cloneSet(3, partition), pods(a, b, c), "patch", a, at(a, inPlace...), []Invariant{Partition}},
		{"CS-31: an update in place", cloneSet(3), pods(a, b, c), "patch", a, at(a, inPlace...), nil},
		{"CS-31: beyond maxUnavailable", cloneSet(3), pods(a, at(b, notReady), c), "patch", a,
			at(a, labelled(lifecyclev1alpha1.StateLabel, "PreparingUpdate")), []Invariant{Availability}},
		{"LC-3: a hook holds the deletion", cloneSet(2, hooked), pods(at(a, labelled("hold", "true")), b, c), "delete",
			at(a, labelled("hold", "true")), at(a, going), []Invariant{Hooks}},
		{"LC-3: a hook holds the update", cloneSet(3, hooked), pods(at(a, labelled("hold", "true")), b, c), "patch",
			at(a, labelled("hold", "true")), at(a, append(inPlace, labelled("hold", "true"))...), []Invariant{Hooks}},
		{"LC-11: a hook that is not met", cloneSet(3, hooked), pods(at(a, labelled(lifecyclev1alpha1.StateLabel, "Updated")), b, c), "patch",
			at(a, labelled(lifecyclev1alpha1.StateLabel, "Updated")), at(a, labelled(lifecyclev1alpha1.StateLabel, "Normal")), []Invariant{Hooks}},
		{"IP-12: another image than the revision's", cloneSet(3), pods(a, b, c), "patch", a,
			at(a, append(inPlace, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "nginx:c" })...), []Invariant{InPlace}},
		{"IP-12: a label that is nobody's", cloneSet(3), pods(a, b, c), "patch", a, at(a, labelled("touched", "true")), []Invariant{InPlace}},
		{"IP-26: Ready is the kubelet's", cloneSet(3), pods(at(a, notReady), b, c), "patch", at(a, notReady), a, []Invariant{InPlace}},
		{"CS-1: a pod of somebody else", cloneSet(1), pods(a, b), "delete", at(a, replaced), at(a, replaced, going), []Invariant{Ownership}},
		{"CS-1: a pod that was given up unseen", cloneSet(1), pods(a, b), "delete", at(a, disowned), at(a, disowned, going), nil},
		{"a pod that may be running is removed", cloneSet(1), pods(a, b), "delete", a, nil, []Invariant{Identity}},
		{"the spec cannot be read", cloneSet(3, unreadable), nil, "create", nil, testPod("web-n1", "b"), []Invariant{Spec}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := testState(tt.set, tt.known...)
			w := &Write{Verb: tt.verb, Resource: "pods", Truth: known, Known: known, Observed: known}
			if tt.before != nil {
				w.Before = tt.before
			}
			if tt.after != nil {
				w.After = tt.after
			}
			violations := CloneSet(w, CloneSetFeatures{})
			if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", violations, diff)
			}
		})
	}
}

func pods(list ...*corev1.Pod) []*corev1.Pod { return list }

// youngFor makes a pod ready for so many seconds.
func youngFor(seconds int) podEdit {
	return func(p *corev1.Pod) {
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(testTime.Add(-time.Duration(seconds) * time.Second))
	}
}
