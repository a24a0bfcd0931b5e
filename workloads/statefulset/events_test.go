// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// situations are those of testdata/situations.txt.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	p := mutation.Planner[Snapshot]{Situations: map[string]*Snapshot{}, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
	scenario.Situations(t, "testdata/situations.txt", scripted, func(name string, w *setScenario) { p.Situations[name] = w.snapshot() })
	return p
}

// describe is everything that a plan says, whatever object it says it about.
func describe(p *Plan) string { return scenario.Describe(&p.Plan, p.Status) }

// changeable are the fields of metadata that the API lets any client change.
const changeable = mutation.Metadata + `|^\.ObjectMeta\.OwnerReferences`

func TestEverythingThatThePlannerReadsOfAPodMatters(t *testing.T) {
	t.Parallel()
	reads := mutation.Reads{}
	can := regexp.MustCompile(changeable + "|" + mutation.OfPods)
	mutation.CheckLists(t, reads, situations(t), mutation.Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Can: can, Matters: mutation.Declared[corev1.Pod](podFields)},
		func(s *Snapshot) *[]*corev1.Pod { return &s.Pods })
	reads.Require(t,
		".ObjectMeta.DeletionTimestamp", ".ObjectMeta.Labels[controller-revision-hash]", ".ObjectMeta.Labels[statefulset.kubernetes.io/pod-name]",
		".ObjectMeta.Labels[lifecycle.apps.kruise.io/state]", ".ObjectMeta.Labels[new]", ".ObjectMeta.Labels[app]",
		".ObjectMeta.OwnerReferences", ".ObjectMeta.OwnerReferences[].UID", ".ObjectMeta.OwnerReferences[].Controller",
		".ObjectMeta.Annotations[apps.kruise.io/inplace-update-state]", ".ObjectMeta.Annotations[apps.kruise.io/inplace-update-grace]",
		".Status.Phase", ".Status.Conditions[].Status", ".Status.Conditions[].Type", ".Status.Conditions[].LastTransitionTime",
		".Status.ContainerStatuses[].ImageID", ".Status.ContainerStatuses[].Ready", ".Status.ContainerStatuses[].Name")
}

func TestEverythingThatThePlannerReadsOfClaimsAndRevisionsMatters(t *testing.T) {
	reads := mutation.Reads{}
	claimMatters := mutation.Declared[corev1.PersistentVolumeClaim](claimFields)
	p := situations(t)
	for name, s := range p.Situations {
		for key, claim := range s.Claims {
			t.Run(name+", "+key, func(t *testing.T) {
				mutation.Plan[corev1.PersistentVolumeClaim]{What: "claim", Copy: (*corev1.PersistentVolumeClaim).DeepCopy,
					Can: regexp.MustCompile(changeable + `|^\.(Spec|Status)`), Matters: claimMatters,
					Of: func(c *corev1.PersistentVolumeClaim) string {
						with := *s
						with.Claims = maps.Clone(s.Claims)
						with.Claims[key] = c
						return describe(NewPlan(&with))
					}}.Check(t, reads, claim)
			})
		}
	}
	mutation.CheckLists(t, reads, p, mutation.Plan[appsv1.ControllerRevision]{What: "revision", Copy: (*appsv1.ControllerRevision).DeepCopy,
		Can: regexp.MustCompile(changeable + `|^\.Revision`), Matters: mutation.Declared[appsv1.ControllerRevision](revisionFields | controller.Owners)},
		func(s *Snapshot) *[]*appsv1.ControllerRevision { return &s.Revisions })
	reads.Require(t, "claim.ObjectMeta.DeletionTimestamp", "claim.ObjectMeta.OwnerReferences", "claim.ObjectMeta.OwnerReferences[].UID",
		"claim.ObjectMeta.OwnerReferences[].Controller", "revision.Revision", "revision.ObjectMeta.OwnerReferences")
}

func TestStatefulSetChanges(t *testing.T) {
	mutation.CheckWorkloads(t, situations(t), (*v1beta1.StatefulSet).DeepCopy, func(s *Snapshot) **v1beta1.StatefulSet { return &s.Set })
}

// TestSetsOfObjects plays testdata/names: whose an object is by its name, as a pod and as a claim.
func TestSetsOfObjects(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, name := range []string{"web", "my-web", "data-my-web", "web-0"} {
		if err := indexer.Add(&v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	store := func() cache.Store { return indexer }
	patches.PlayRows(t, "testdata/names", func() metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default"} },
		func(_ *testing.T, _ string, row *metav1.ObjectMeta) string {
			return fmt.Sprint("a pod of ", setsOfPod(store)(&corev1.Pod{ObjectMeta: *row}), ", a claim of ",
				setsOfClaim(store)(&corev1.PersistentVolumeClaim{ObjectMeta: *row}))
		})
}
