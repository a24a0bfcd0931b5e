// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// situations are SidecarSets in the midst of something, at the ends of the commands of a script. So between them the planner reads all that it ever
// reads.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	all := map[string]*Snapshot{}
	playPlans(t, "testdata/plans/situations.txt", func(place string, s *planScript) { all[place] = s.snapshot() })
	return mutation.Planner[Snapshot]{Situations: all, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string {
	plan := p.Plan
	plan.Waiting = slices.Concat(p.Waiting, []rollout.Wait{{}}, p.NotInjected, []rollout.Wait{{}}, p.NotUpgradable)
	return scenario.Describe(&plan, p.CustomVersion, p.Rollout, p.Status, p.Events)
}

// TestEverythingThatThePlannerReadsOfAPodMatters: events of other fields are dropped. (SCS-W6)
func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	reads := mutation.Reads{}
	can := regexp.MustCompile(mutation.Metadata + "|" + mutation.OfPods)
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: can, Matters: mutation.Declared[corev1.Pod](podFields)},
		func(s *Snapshot) *[]*corev1.Pod { return &s.Pods })
	reads.Require(t, ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Labels[app]", ".ObjectMeta.Annotations[kruise.io/sidecarset-hash]",
		".ObjectMeta.Annotations[kruise.io/sidecarset-working-hotupgrade-container]", ".Spec.Containers[].Image", ".Status.Phase", ".Status.Conditions[].Status",
		".Status.ContainerStatuses[].Ready", ".Status.ContainerStatuses[].ImageID", ".Status.ObservedGeneration")
}

// TestEverythingThatThePlannerReadsOfANamespaceMatters: labels, and nothing else. (SCS-W6)
func TestEverythingThatThePlannerReadsOfANamespaceMatters(t *testing.T) {
	reads := mutation.Reads{}
	for name, s := range situations(t).Situations {
		for namespace := range s.Namespaces {
			t.Run(name, func(t *testing.T) {
				mutation.Plan[corev1.Namespace]{Copy: (*corev1.Namespace).DeepCopy, Can: regexp.MustCompile(mutation.Metadata + `|^\.Status`),
					Matters: mutation.Declared[corev1.Namespace](namespaceFields), Of: func(n *corev1.Namespace) string {
						with := *s
						with.Namespaces = maps.Clone(s.Namespaces)
						with.Namespaces[namespace] = n
						return describe(NewPlan(&with))
					}}.Check(t, reads, s.Namespaces[namespace])
			})
		}
	}
	reads.Require(t, ".ObjectMeta.Labels[team]")
}

func TestEverythingThatThePlannerReadsOfARevisionMatters(t *testing.T) {
	reads := mutation.Reads{}
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[appsv1.ControllerRevision]{Copy: (*appsv1.ControllerRevision).DeepCopy,
		Can:     regexp.MustCompile(mutation.Metadata + `|^\.ObjectMeta\.OwnerReferences|^\.Revision`),
		Matters: mutation.Declared[appsv1.ControllerRevision](revisionFields)},
		func(s *Snapshot) *[]*appsv1.ControllerRevision { return &s.Revisions })
	reads.Require(t, ".ObjectMeta.OwnerReferences")
}

func TestSidecarSetChanges(t *testing.T) {
	mutation.CheckWorkloads(t, situations(t), (*v1alpha1.SidecarSet).DeepCopy, func(s *Snapshot) **v1alpha1.SidecarSet { return &s.Set })
}
