// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
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

// TestSetsOfObjects is about whose an object is by its name.
func TestSetsOfObjects(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, name := range []string{"web", "my-web", "data-my-web", "web-0"} {
		if err := indexer.Add(&v1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	ofPod := setsOfPod(func() cache.Store { return indexer })
	ofClaim := setsOfClaim(func() cache.Store { return indexer })
	for _, test := range []struct {
		object     string
		pod, claim string
	}{
		{"web-0", "web", ""},
		{"web-00", "", ""},
		{"web-x", "", ""},
		{"web", "", ""},
		{"other-0", "", ""},
		{"web-0-1", "web-0", ""},
		{"my-web-3", "my-web", "web"},
		{"data-web-0", "", "web"},
		{"logs-data-my-web-12", "", "data-my-web my-web web"},
		{"data-web-0-1", "", "web-0"},
		{"-web-0", "", "web"},
		{"web--0", "", ""},
	} {
		t.Run(test.object, func(t *testing.T) {
			names := func(keys []types.NamespacedName) string {
				var out []string
				for _, key := range keys {
					out = append(out, key.Name)
				}
				return strings.Join(out, " ")
			}
			meta := metav1.ObjectMeta{Namespace: "default", Name: test.object}
			if got := names(ofPod(&corev1.Pod{ObjectMeta: meta})); got != test.pod {
				t.Errorf("as a pod it is one of %q, want %q", got, test.pod)
			}
			if got := names(ofClaim(&corev1.PersistentVolumeClaim{ObjectMeta: meta})); got != test.claim {
				t.Errorf("as a claim it is one of %q, want %q", got, test.claim)
			}
			meta.Namespace = "elsewhere"
			if got := names(ofClaim(&corev1.PersistentVolumeClaim{ObjectMeta: meta})); got != "" {
				t.Errorf("in another namespace it is one of %q", got)
			}
		})
	}
}
