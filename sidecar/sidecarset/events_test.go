// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"maps"
	"regexp"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// situations are SidecarSets in the midst of something, so that between them the planner
// reads all that it ever reads.
func situations(t *testing.T) mutation.Planner[Snapshot] {
	const log = `containers: [{name: log, image: "log:1"}]`
	const hot = `containers: [{name: mesh, image: "mesh:1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}}]`
	all := map[string]*Snapshot{}
	add := func(name, spec string, act func(*world)) {
		w := newWorld(t, "{"+spec+"}")
		w.now = w.now.Add(time.Minute)
		w.sync()
		w.add("web-0", "web-1", "web-2")
		act(w)
		all[name] = w.snapshot()
	}
	update := func(w *world) { w.image("log", "log:2") }
	upgrade := func(w *world) { w.image("mesh", "mesh:2") }
	add("settled", log, (*world).settle)
	add("update", log+", updateStrategy: {maxUnavailable: 2}", func(w *world) {
		w.down("web-1", "main")
		update(w)
	})
	add("selector, scatter and partition", log+", updateStrategy: {partition: 1, selector: {matchLabels: {app: web}}, scatterStrategy: [{key: zone, value: a}]}", update)
	add("images that are pulled", log, func(w *world) {
		update(w)
		w.sync()
		w.image("log", "log:3")
	})
	add("paused", log+", updateStrategy: {paused: true}", update)
	add("hot", hot, upgrade)
	add("to empty", hot, func(w *world) {
		upgrade(w)
		w.sync()
		w.kubelet()
	})
	add("hot, while the new image is pulled", hot, func(w *world) {
		upgrade(w)
		w.sync()
	})
	add("hot, while the old one is emptied", hot, func(w *world) {
		w.edit("{updateStrategy: {maxUnavailable: 3}}")
		upgrade(w)
		w.sync()
		w.kubelet()
		w.sync()
		for _, pod := range w.pods {
			w.down(pod.Name, "mesh-1")
		}
		w.image("mesh", "mesh:3")
	})
	add("a namespace of which no webhook hears", log, func(w *world) {
		w.pods = append(w.pods, w.bare("web-3"))
		w.namespaces = map[string]*corev1.Namespace{"shop": {ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"control-plane": "a"}}}}
	})
	add("not injected", log, func(w *world) { w.pods = append(w.pods, w.bare("web-3")) })
	add("not upgradable", log, func(w *world) { w.edit(`{containers: [{name: log, image: "log:1", env: [{name: a, value: b}]}]}`) })
	add("namespaces", log+", namespaceSelector: {matchLabels: {team: a}}", func(w *world) {
		w.namespaces = map[string]*corev1.Namespace{"shop": {ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}}
		update(w)
	})
	add("beside the workload", log, func(w *world) {
		state := `{"revision":"r","updateTimestamp":"` + w.now.Format(time.RFC3339) + `","lastContainerStatuses":{"main":{"imageID":"id-of-main:v1"}}}`
		for _, pod := range w.pods {
			pod.Annotations[inplacev1alpha1.StateAnnotation] = state
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
		}
		update(w)
	})
	add("what SidecarSets say of updates", log, func(w *world) {
		w.edit(`{containers: [{name: log, image: "log:1", env: [{name: a, value: b}]}]}`)
		for _, pod := range w.pods {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: v1alpha1.SidecarSetUpgradable, Status: corev1.ConditionFalse, Message: `{"demo":false}`})
		}
	})
	all["what SidecarSets say of updates"].Features.UpgradableCondition = true
	w := newNativeWorld(t, `{containers: [{name: log, image: "log:1"}], initContainers: [{name: setup, image: "setup:1"}, {name: proxy, image: "proxy:1", restartPolicy: Always}]}`)
	w.add("web-0", "web-1", "web-2")
	w.settle()
	w.edit(`{initContainers: [{name: setup, image: "setup:1"}, {name: proxy, image: "proxy:2", restartPolicy: Always}]}`)
	w.sync()
	all["native sidecars"] = w.snapshot()
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
