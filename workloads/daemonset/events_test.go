// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"regexp"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// situations are those of testdata/situations.txt: states as those of TestPlans.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	p := mutation.Planner[Snapshot]{Situations: map[string]*Snapshot{}, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
	datadriven.RunTest(t, "testdata/situations.txt", func(t *testing.T, d *datadriven.TestData) string {
		p.Situations[d.Cmd] = placeOf(t, d)
		return ""
	})
	return p
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string { return scenario.Describe(&p.Plan, p.Status, p.Rollout, p.WaitingNodes) }

// changeable are the fields of metadata that the API lets any client change.
const changeable = mutation.Metadata + `|^\.ObjectMeta\.OwnerReferences`

func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	t.Parallel()
	reads := mutation.Reads{}
	can := regexp.MustCompile(changeable + "|" + mutation.OfPods)
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: can, Matters: mutation.Declared[corev1.Pod](podFields)},
		func(s *Snapshot) *[]*corev1.Pod { return &s.Pods })
	reads.Require(t, ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Labels[controller-revision-hash]", ".ObjectMeta.Labels[app]", ".ObjectMeta.Labels[lifecycle.apps.kruise.io/state]",
		".ObjectMeta.OwnerReferences", ".ObjectMeta.OwnerReferences[].Controller", ".Status.Phase", ".Status.Conditions[].Status", ".Status.Conditions[].LastTransitionTime",
		".Status.ContainerStatuses[].ContainerID")
}

func TestEverythingThatThePlannerReadsOfANodeMatters(t *testing.T) {
	reads := mutation.Reads{}
	for _, s := range situations(t).Situations {
		mutation.CheckNodes(t, reads, s.Nodes, nodeFields, func(nodes []*corev1.Node) string {
			with := *s
			with.Nodes = nodes
			return describe(NewPlan(&with))
		})
	}
	reads.Require(t, ".ObjectMeta.Labels[zone]", ".ObjectMeta.Labels[name]", ".Spec.Taints[].Effect")
	if reads[".Status.Allocatable[new]"] {
		t.Error("what a node has to give is read: no node is asked for it")
	}
}

func TestEverythingThatThePlannerReadsOfARevisionMatters(t *testing.T) {
	reads := mutation.Reads{}
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[appsv1.ControllerRevision]{What: "revision", Copy: (*appsv1.ControllerRevision).DeepCopy,
		Can: regexp.MustCompile(changeable + `|^\.Revision`), Matters: mutation.Declared[appsv1.ControllerRevision](revisionFields | controller.Owners)},
		func(s *Snapshot) *[]*appsv1.ControllerRevision { return &s.Revisions })
	reads.Require(t, "revision.Revision", "revision.ObjectMeta.OwnerReferences")
}

func TestDaemonSetChanges(t *testing.T) {
	mutation.CheckWorkloads(t, situations(t), (*v1alpha1.DaemonSet).DeepCopy, func(s *Snapshot) **v1alpha1.DaemonSet { return &s.Set })
}

// Events of a pod concern the DaemonSet that owns it, in whichever version the reference names it. (DS-V3, PF-5.3)
func TestPodsOfBothVersions(t *testing.T) {
	for apiVersion, want := range map[string][]types.NamespacedName{
		"apps.kruise.io/v1alpha1": {{Namespace: "default", Name: "web"}},
		"apps.kruise.io/v1beta1":  {{Namespace: "default", Name: "web"}},
		"apps/v1":                 nil,
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: apiVersion, Kind: kind, Name: "web", Controller: new(true)}}}}
		if diff := cmp.Diff(want, setsOfPod(&Options{})(pod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", apiVersion, diff)
		}
	}
}
