// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// words are those of pods.
var words = patches.Read("testdata/words.yaml", start)

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

// blocking shows which pods are deleted of those for which the StatefulSet of the subset b waits, and which are left for now. pods has a letter for
// each ordinal. Old pods are ready (o), never were (x), or were a minute (m) or an hour (h) ago. Others never were since their kubelet took them a
// minute ago (k). Old pods also terminate (t), were ready until then (T), or have failed (f). Updated ones are ready (U) or not (N). A dash (-) is no
// pod. more is in the spec of the template.
func (w *scripted) blocking(t *testing.T, pods, more string) string {
	w.world = newWorld(t, newSet(t, "replicas: 8", templateYAML(StatefulSet, more), "updateStrategy: {manualUpdate: {partitions: {b: 1}}}"))
	w.Now = start
	old := w.settle().Revisions.Update.Name
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "bad" })
	w.settle()
	b := w.set("b")
	for i, letter := range pods {
		revision := old
		if letter == 'U' || letter == 'N' {
			revision = NewPlan(&w.Snapshot).Revisions.Update.Name
		}
		if letter != '-' {
			pod := w.pod(fmt.Sprint(b.Object.GetName(), "-", i+int(b.start)), b.Object, revision, strings.ContainsRune("oUT", letter))
			*pod = *patches.Changed(words, pod, "old", string(letter))
		}
	}
	w.pod(b.Object.GetName()+"-1", w.Set, old, false) // of another owner
	plan := NewPlan(&w.Snapshot)
	unseen := b.Object.(*appsv1.StatefulSet).DeepCopy()
	unseen.Generation = 7
	w.put(unseen)
	if got := NewPlan(&w.Snapshot).DeletePods; len(got) > 0 {
		t.Errorf("UD-11: %d pods of a StatefulSet whose controller has not seen the update", len(got))
	}
	return fmt.Sprintf("deleted %v, left %v, again after %v\n", ordinalsOf(plan.DeletePods), ordinalsOf(plan.Blocking), plan.RequeueAfter)
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

// TestNothingToPlanFor: a Snapshot of nothing gives a plan that says so, and does nothing.
func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		plan := NewPlan(s)
		if err := rollout.ErrorOf(plan.Problems); err == nil || !strings.Contains(err.Error(), "the Snapshot has no Set") || plan.Status != nil {
			t.Errorf("the plan for %v has the problem %v and the status %v", s, err, plan.Status)
		}
	}
}
