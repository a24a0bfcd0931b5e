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

// UD-11: of the pods for which a StatefulSet of Kubernetes waits, the one that blocks its update is deleted. That is one of each
// subset at most. One that was ready is deleted only after it has not been ready for minutes.
func TestDeletePods(t *testing.T) {
	for name, test := range map[string]struct {
		more string // in the spec of the template
		// pods has a letter for each ordinal. Old pods are ready (o), never were (x), or were a minute (m) or an hour (h) ago.
		// Others never were since their kubelet took them a minute ago (k). Old pods also terminate (t), were ready until then
		// (T), or have failed (f). Updated ones are ready (U) or not (N). A dash (-) is no pod.
		pods string
		want []int // ordinals that are deleted
		left []int // that are left for now
	}{
		"UD-11: one that never was ready":                 {pods: "oxoN", want: []int{1}},
		"UD-11: one that is held back":                    {pods: "xxoo"},
		"UD-11: an updated one":                           {pods: "oNxo"},
		"UD-11: nothing blocks":                           {pods: "oooU"},
		"UD-11.1: one of many":                            {pods: "oxxx", want: []int{1}},
		"UD-11.1: one that terminates comes first":        {pods: "otho"},
		"UD-11.1: one that serves and terminates":         {pods: "oTho"},
		"UD-11.1: Parallel, the same":                     {more: "podManagementPolicy: Parallel, ", pods: "ohoT"},
		"UD-11.1: a missing one comes first":              {pods: "o-ho"},
		"UD-11.1: one that has failed is replaced anyway": {pods: "ofho"},
		"UD-11.1: missing ones behind it":                 {pods: "oh--", want: []int{1}},
		"UD-11.1: Parallel":                               {more: "podManagementPolicy: Parallel, ", pods: "xxxU", want: []int{2}},
		"UD-11.1: Parallel, an updated one":               {more: "podManagementPolicy: Parallel, ", pods: "oxxN"},
		"UD-11.1: Parallel, a missing one":                {more: "podManagementPolicy: Parallel, ", pods: "oxx-"},
		"UD-11.1: Parallel, all are held back":            {more: "podManagementPolicy: Parallel, ", pods: "xooU"},
		"UD-11: ordinals from 5, one is held back":        {more: "ordinals: {start: 5}, ", pods: "xooo"},
		"UD-11: ordinals from 5":                          {more: "ordinals: {start: 5}, ", pods: "oxoo", want: []int{6}},
		"UD-11.2: a hiccup":                               {pods: "ommm", left: []int{1}},
		"UD-11.2: a hiccup of the first":                  {pods: "omho", left: []int{1}},
		"UD-11.2: not ready for long":                     {pods: "ohmo", want: []int{1}},
		"UD-11.2: it waited for a node, and never was":    {pods: "okoo", want: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newSet(t, "replicas: 8", templateYAML(StatefulSet, test.more), "updateStrategy: {manualUpdate: {partitions: {b: 1}}}"))
			w.Now = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
			old := w.settle().Revisions.Update.Name
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "bad" })
			w.settle()
			b := w.set("b")
			for i, letter := range test.pods {
				w.blocking(b.Object, i+int(b.start), letter, old, NewPlan(&w.Snapshot).Revisions.Update.Name)
			}
			w.pod(b.Object.GetName()+"-1", w.Set, old, false) // of another owner
			plan := NewPlan(&w.Snapshot)
			if diff := cmp.Diff([][]int{test.want, test.left}, [][]int{ordinalsOf(plan.DeletePods), ordinalsOf(plan.Blocking)}); diff != "" {
				t.Errorf("deleted, and left (-want +got):\n%s", diff)
			}
			if left := plan.RequeueAfter; len(test.left) > 0 && left != 4*time.Minute {
				t.Errorf("UD-11.2: planned again after %v", left)
			}
			edited(w, b.Object.(*appsv1.StatefulSet), func(o *appsv1.StatefulSet) { o.Generation = 7 })
			if got := NewPlan(&w.Snapshot).DeletePods; len(got) > 0 {
				t.Errorf("UD-11: %d pods of a StatefulSet whose controller has not seen the update", len(got))
			}
		})
	}
}

// blocking is a pod of a StatefulSet in the state that a letter stands for, see TestDeletePods.
func (w *world) blocking(of metav1.Object, ordinal int, state rune, old, present string) {
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
