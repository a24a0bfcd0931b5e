// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/scenario"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// situations are StatefulSets in the midst of something, so that between them
// the planner reads all that it ever reads.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	all := map[string]*Snapshot{}
	situation := func(name, setup, change string, then func(*setScenario)) {
		w := newScenario(t)
		w.set.Spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}, {ConditionType: "example.com/gate"}}
		w.set.Spec.Template.Labels["tier"] = "front"
		w.set.Spec.Template.Spec.Containers = []corev1.Container{
			{Name: "main", Image: "nginx:1", Env: []corev1.EnvVar{launchPriority("10")}},
			{Name: "side", Image: "side:1", Env: []corev1.EnvVar{launchPriority("5")}},
		}
		w.Spec(strings.Fields("policy=Parallel replicas=4 podUpdatePolicy=InPlaceIfPossible maxUnavailable=2 " + setup)...)
		for range 12 {
			w.step()
		}
		w.Spec(strings.Fields(change)...)
		if then != nil {
			then(w)
		}
		all[name] = w.snapshot()
	}
	step := (*setScenario).step
	situation("settled", "", "", nil)
	situation("OrderedReady", "policy=OrderedReady", "", nil)
	situation("OrderedReady, an update begins", "policy=OrderedReady", "image=nginx:2", nil)
	situation("OrderedReady, scale-in", "policy=OrderedReady", "replicas=2", nil)
	situation("OrderedReady, a broken pod", "policy=OrderedReady", "image=nginx:2", func(w *setScenario) { w.Break("web-3", true); w.step() })
	situation("an update begins", "", "image=nginx:2", nil)
	situation("an update is under way", "", "image=nginx:2", func(w *setScenario) { w.apply(NewPlan(w.snapshot())) })
	situation("an update is taken note of", "", "image=nginx:2", step)
	situation("recreation", "", "podUpdatePolicy=ReCreate image=nginx:2", nil)
	situation("InPlaceOnly", "", "podUpdatePolicy=InPlaceOnly env=x", nil)
	situation("OnDelete", "type=OnDelete", "image=nginx:2", nil)
	situation("paused", "", "paused=true image=nginx:2", nil)
	situation("scale-out", "scaleMaxUnavailable=1", "replicas=6", nil)
	situation("scale-in", "", "replicas=2", nil)
	situation("reserved ordinals", "", "reserve=1", nil)
	situation("minReadySeconds", "minReadySeconds=30", "image=nginx:2", nil)
	situation("unordered by priority", "partition=1 ordered-by=new", "image=nginx:2", nil)
	situation("claims", "claims=data", "", nil)
	situation("claims of a pod that is scaled down", "claims=data whenScaled=Delete whenDeleted=Delete", "replicas=3", nil)
	situation("scale-out with claims", "claims=data", "replicas=3", func(w *setScenario) { w.step(); w.step(); w.Spec("replicas=4") })
	situation("a claim with an owner of its own", "claims=data", "whenDeleted=Delete", func(w *setScenario) {
		w.OwnClaim(w.Claim("data-web-0"), []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "backup", UID: "uid-backup"}})
	})
	situation("a new claim template", "claims=data", "claims=logs", nil)
	situation("a roll-back", "", "image=nginx:2", func(w *setScenario) { w.step(); w.Spec("image=nginx:1") })
	situation("a history that is too long", "historyLimit=0", "image=nginx:2", func(w *setScenario) { step(w); step(w); step(w) })
	situation("hooks", "preDelete=hold inPlaceUpdate=hold label=hold:true", "image=nginx:2", step)
	situation("hooks that hold a deletion", "preDelete=hold label=hold:true", "replicas=2", step)
	situation("a deletion that is taken back", "preDelete=hold label=hold:true", "replicas=2", func(w *setScenario) { w.step(); w.Spec("replicas=4") })
	situation("a sidecar is being updated", "", "image=nginx:2", func(w *setScenario) {
		for _, pod := range w.Pods {
			w.Edit(pod.Name, func(p *corev1.Pod) { scenario.UpdateSidecar(t, p, "side", "side:2", w.Now) })
		}
	})
	situation("a grace period", "grace=60", "image=nginx:2", step)
	situation("containers in batches", "", "image=nginx:2", func(w *setScenario) {
		w.set.Spec.Template.Spec.Containers[1].Image = "side:2"
		w.apply(NewPlan(w.snapshot()))
		w.Kubelets()
	})
	situation("an orphan", "", "", func(w *setScenario) {
		w.Edit("web-1", func(p *corev1.Pod) { p.OwnerReferences = nil })
		w.Revisions[0] = w.Revisions[0].DeepCopy()
		w.Revisions[0].OwnerReferences = nil
	})
	return mutation.Planner[Snapshot]{Situations: all, Describe: func(s *Snapshot) string { return describe(NewPlan(s)) }}
}

func launchPriority(n string) corev1.EnvVar {
	return corev1.EnvVar{Name: lifecyclev1alpha1.ContainerBarrierEnv, ValueFrom: &corev1.EnvVarSource{
		ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: lifecyclev1alpha1.ContainerBarrierKeyPrefix + n}}}
}

// step lets the kubelets and then the controller act once.
func (w *setScenario) step() {
	w.Kubelets()
	for _, pod := range w.Pods {
		w.Edit(pod.Name, func(p *corev1.Pod) { w.SetCondition(p, "example.com/gate", corev1.ConditionTrue); w.Recompute(p) })
	}
	w.Collect()
	w.Now = w.Now.Add(time.Minute)
	w.apply(NewPlan(w.snapshot()))
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
