// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/conformance/snapshots"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// situations are those of testdata/situations.txt.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	p := mutation.Planner[Snapshot]{Situations: map[string]*Snapshot{}, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
	scenario.Situations(t, "testdata/situations.txt", scripted, func(name string, w *setScenario) { p.Situations[name] = w.snapshot() })
	return p
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string {
	var deleted []string
	for _, claim := range p.DeleteClaims {
		deleted = append(deleted, claim.Name)
	}
	return scenario.Describe(&p.Plan, p.Diff, p.Status, p.PodsToDelete, p.PrunePodsToDelete, deleted)
}

// changeable are the fields of a pod that its API lets any client change. Changes
// of owners are always declared.
var changeable = regexp.MustCompile(mutation.Metadata + "|" + mutation.OfPods)

// TestOrderOfObjects: the order in which caches have objects changes nothing of what a plan does, and to which of them.
func TestOrderOfObjects(t *testing.T) {
	said := func(s *Snapshot) []string { return slices.Sorted(strings.SplitSeq(NewPlan(s).String(), "\n")) }
	for name, s := range situations(t).Situations {
		with := *s
		with.Pods, with.Revisions = slices.Clone(s.Pods), slices.Clone(s.Revisions)
		slices.Reverse(with.Pods)
		slices.Reverse(with.Revisions)
		if diff := cmp.Diff(said(s), said(&with)); diff != "" {
			t.Errorf("%s: another order gives another plan (-want +got):\n%s", name, diff)
		}
	}
}

func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	t.Parallel()
	reads := mutation.Reads{}
	for name, s := range situations(t).Situations {
		s.NodeLabels = map[string]map[string]string{"node-1": {"zone": "a"}, "node-2": {"zone": "a"}, "node-3": {"zone": "b"}}
		fields := podFields
		if s.Features.InPlaceResize {
			fields |= resizeFields
		}
		mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: changeable, Matters: mutation.Declared[corev1.Pod](fields)}.
			CheckEach(t, reads, name, s.Pods, func(pods []*corev1.Pod) string {
				with := *s
				with.Pods = pods
				return describe(NewPlan(&with))
			})
	}
	reads.Require(t,
		".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Finalizers", ".ObjectMeta.Labels[controller-revision-hash]",
		".ObjectMeta.Labels[lifecycle.apps.kruise.io/state]", ".ObjectMeta.Labels[new]", ".ObjectMeta.Annotations[apps.kruise.io/inplace-update-state]",
		".ObjectMeta.Annotations[apps.kruise.io/inplace-update-grace]", ".ObjectMeta.Annotations[kruise.io/sidecarset-inplace-update-state]", ".Spec.NodeName", ".Status.Phase",
		".Status.Conditions[].Status", ".Status.Conditions[].Type", ".Status.Conditions[].LastTransitionTime",
		".Status.ContainerStatuses[].ImageID", ".Status.ContainerStatuses[].Image", ".Status.ContainerStatuses[].RestartCount",
		".Status.ContainerStatuses[].Resources", ".Status.Conditions[].ObservedGeneration", ".Status.ObservedGeneration",
		".Spec.Containers[].Resources.Requests[cpu]", ".Status.ContainerStatuses[].Ready", ".Status.ContainerStatuses[].ContainerID", ".Status.ContainerStatuses[].Name")
}

func TestEverythingThatThePlannerReadsOfClaimsAndRevisionsMatters(t *testing.T) {
	t.Parallel()
	reads := mutation.Reads{}
	p := situations(t)
	mutation.CheckLists(t, reads, p, mutation.Plan[corev1.PersistentVolumeClaim]{What: "claim", Copy: (*corev1.PersistentVolumeClaim).DeepCopy,
		Can: regexp.MustCompile(mutation.Metadata + `|^\.(Spec|Status)`), Matters: mutation.Declared[corev1.PersistentVolumeClaim](claimFields)},
		func(s *Snapshot) *[]*corev1.PersistentVolumeClaim { return &s.Claims })
	mutation.CheckLists(t, reads, p, mutation.Plan[appsv1.ControllerRevision]{What: "revision", Copy: (*appsv1.ControllerRevision).DeepCopy,
		Can: regexp.MustCompile(mutation.Metadata + `|^\.Revision`), Matters: mutation.Declared[appsv1.ControllerRevision](revisionFields)},
		func(s *Snapshot) *[]*appsv1.ControllerRevision { return &s.Revisions })
	reads.Require(t, "claim.ObjectMeta.DeletionTimestamp", "claim.ObjectMeta.Labels["+v1alpha1.CloneSetInstanceIDLabel+"]", "revision.Revision")
}

func TestCloneSetChanges(t *testing.T) {
	mutation.CheckWorkloads(t, situations(t), (*v1alpha1.CloneSet).DeepCopy, func(s *Snapshot) **v1alpha1.CloneSet { return &s.Set })
}

func TestSnapshots(t *testing.T) {
	snapshots.Check(t, NewPlan, func() *Snapshot {
		w := newScenario(t)
		w.Spec("replicas=3", "claims=data", "type=InPlaceIfPossible")
		w.settle()
		w.Spec("image=nginx:2")
		return w.snapshot()
	})
}
