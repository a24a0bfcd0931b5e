// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// set is the present workload of a subset.
func (w *world) set(subset string) Child {
	w.Helper()
	for _, c := range w.children() {
		if c.Subset == subset {
			return c
		}
	}
	w.Fatalf("the subset %s has no workload", subset)
	return Child{}
}

// edit changes the UnitedDeployment.
func (w *world) edit(change func(*v1alpha1.UnitedDeploymentSpec)) {
	w.Set = w.Set.DeepCopy()
	change(&w.Set.Spec)
	w.Set.Generation++
}

// edited makes a copy of a workload that another client has changed.
func edited[T metav1.Object](w *world, object T, change func(T)) {
	object = any(any(object).(runtime.Object).DeepCopyObject()).(T)
	change(object)
	w.put(object)
}

// blocking shows which pods are deleted of those for which the StatefulSet of the subset b waits, and which are left for now. pods has a letter for
// each ordinal. Old pods are ready (o), never were (x), or were a minute (m) or an hour (h) ago. Others never were since their kubelet took them a
// minute ago (k). Old pods also terminate (t), were ready until then (T), or have failed (f). Updated ones are ready (U) or not (N). A dash (-) is no
// pod. more is in the spec of the template.
func (w *scripted) blocking(t *testing.T, pods, more string) string {
	w.world = newWorld(t, newSet(t, "replicas: 8", templateYAML(StatefulSet, more), "updateStrategy: {manualUpdate: {partitions: {b: 1}}}"))
	w.Now = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	old := w.settle().Revisions.Update.Name
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "bad" })
	w.settle()
	b := w.set("b")
	for i, letter := range pods {
		w.blockingPod(b.Object, i+int(b.start), letter, old, NewPlan(&w.Snapshot).Revisions.Update.Name)
	}
	w.pod(b.Object.GetName()+"-1", w.Set, old, false) // of another owner
	plan := NewPlan(&w.Snapshot)
	edited(w.world, b.Object.(*appsv1.StatefulSet), func(o *appsv1.StatefulSet) { o.Generation = 7 })
	if got := NewPlan(&w.Snapshot).DeletePods; len(got) > 0 {
		t.Errorf("UD-11: %d pods of a StatefulSet whose controller has not seen the update", len(got))
	}
	return fmt.Sprintf("deleted %v, left %v, again after %v\n", ordinalsOf(plan.DeletePods), ordinalsOf(plan.Blocking), plan.RequeueAfter)
}

// blockingPod is a pod of a StatefulSet in the state that a letter stands for.
func (w *world) blockingPod(of metav1.Object, ordinal int, state rune, old, present string) {
	if state == '-' {
		return
	}
	revision := old
	if state == 'U' || state == 'N' {
		revision = present
	}
	pod := w.pod(fmt.Sprint(of.GetName(), "-", ordinal), of, revision, state == 'o' || state == 'U' || state == 'T')
	pod.CreationTimestamp.Time = w.Now.Add(-24 * time.Hour)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{ContainerID: "c"}}
	ago, unready := map[rune]time.Duration{'m': time.Minute, 'k': time.Minute, 'h': time.Hour, 't': time.Hour, 'f': time.Hour, 'x': 24 * time.Hour, 'N': time.Hour}[state]
	if unready {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(w.Now.Add(-ago))}}
	}
	switch state {
	case 'k':
		pod.Status.StartTime = &metav1.Time{Time: w.Now.Add(-time.Minute)}
	case 't', 'T':
		pod.DeletionTimestamp = &metav1.Time{Time: w.Now}
	case 'f':
		pod.Status.Phase = corev1.PodFailed
	}
}

func ordinalsOf(pods []*corev1.Pod) (found []int) {
	for _, pod := range pods {
		_, n, _ := podplan.SplitOrdinal(pod.Name)
		found = append(found, int(n))
	}
	return found
}

// A release switches what it does by default. (UD-12.5, UD-20, UD-21, UD-21.6, UD-21.7, UD-7)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{AdaptiveScheduling: true, UpdatedCondition: true, SubsetStatuses: true, RevisionLabel: true, ReservedLabels: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}
