// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const (
	logs = `{containers: [{name: log, image: "log:v1"}]}`
	mesh = `{updateStrategy: {maxUnavailable: 1}, containers: [
  {name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}]}`
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world is a SidecarSet with its pods and revisions, which plans are applied to as an API
// server does, and kubelets act.
type world struct {
	*scenario.Cluster
	t          testing.TB
	set        *v1alpha1.SidecarSet
	namespaces map[string]*corev1.Namespace
	features   injection.Features
}

// newWorld has the SidecarSet demo, which selects app=web, with a spec in YAML.
func newWorld(t testing.TB, spec string) *world {
	t.Helper()
	w := &world{t: t, Cluster: scenario.New(t, metav1.OwnerReference{}, nil), set: &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{
		Name: "demo", UID: "uid-of-demo", ResourceVersion: "100", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}}
	w.Now = noon
	w.edit(spec)
	return w
}

// edit changes the spec as a user does: the fields in YAML are set.
func (w *world) edit(spec string) {
	w.t.Helper()
	if err := yaml.UnmarshalStrict([]byte("spec: "+spec), w.set); err != nil {
		w.t.Fatalf("%v\n%s", err, spec)
	}
	if w.set.Spec.Selector == nil {
		w.set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	w.features.Default(w.set)
	w.set.Generation++
	w.set.ResourceVersion = w.Bump()
}

// image sets the image of a container of the SidecarSet.
func (w *world) image(name, image string) {
	w.t.Helper()
	for i := range w.set.Spec.Containers {
		if c := &w.set.Spec.Containers[i]; c.Name == name {
			c.Image = image
		}
	}
	w.set.Generation++
	w.set.ResourceVersion = w.Bump()
}

// bare is a pod with the containers main, which runs, and nothing injected.
func (w *world) bare(name string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), Labels: map[string]string{"app": "web"},
			Generation: 1, ResourceVersion: w.Bump(), CreationTimestamp: metav1.NewTime(w.Now)},
		Spec:   corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Image: "main:v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	return pod
}

// add adds pods as the webhook makes them, and lets their kubelets act.
func (w *world) add(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.addAs(w.bare(name), w.set)
	}
}

// addAs adds a pod that SidecarSets were injected into.
func (w *world) addAs(pod *corev1.Pod, sets ...*v1alpha1.SidecarSet) *corev1.Pod {
	w.t.Helper()
	r, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: sets, Revisions: w.Revisions, Features: w.features, Now: w.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	r.Pod.Status.Phase = corev1.PodRunning
	w.Pods = append(w.Pods, r.Pod)
	w.kubelet(r.Pod.Name)
	return r.Pod
}

// node is what kubelets do. Images "…:broken" cannot be pulled, and containers of images "…:crash" are never ready.
func (w *world) node() *fakecluster.Kubelet {
	return &fakecluster.Kubelet{Clock: clocktesting.NewFakePassiveClock(w.Now),
		Broken:     func(image string) bool { return strings.HasSuffix(image, ":crash") },
		Unpullable: func(image string) bool { return strings.HasSuffix(image, ":broken") }}
}

// kubelet has the kubelets of pods, of all without names, do what they have to.
func (w *world) kubelet(names ...string) {
	node := w.node()
	for _, pod := range w.Pods {
		if len(names) == 0 || slices.Contains(names, pod.Name) {
			node.Run(pod)
		}
	}
}

// down makes a container of a pod unready.
func (w *world) down(pod, container string) {
	w.t.Helper()
	p := w.Pod(pod)
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; s.Name == container {
			s.Ready = false
		}
	}
	w.node().Recompute(p)
}

// many has pods of which so many are updated to log:v2, and so many of the updated ones are ready.
func many(t testing.TB, strategy string, matched, updated, ready int) *world {
	t.Helper()
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	old := w.Pods[0]
	w.image("log", "log:v2")
	w.sync()
	w.kubelet()
	w.settle()
	fresh := w.Pods[0]
	w.edit("{updateStrategy: {" + strategy + "}}")
	w.Pods = nil
	for i := range matched {
		pod := old.DeepCopy()
		if i < updated {
			pod = fresh.DeepCopy()
		}
		pod.Name, pod.UID = fmt.Sprintf("p%04d", i), types.UID(fmt.Sprint("uid-of-p", i))
		w.Pods = append(w.Pods, pod)
		if i >= ready && i < updated {
			w.down(pod.Name, "log")
		}
	}
	return w
}

func (w *world) snapshot() *Snapshot {
	return &Snapshot{Set: w.set, Pods: w.Pods, Revisions: w.Revisions, Namespaces: w.namespaces, Injection: w.features, Now: w.Now}
}

func (w *world) plan() *Plan { return NewPlan(w.snapshot()) }

// sync plans and applies what is planned, and returns that.
func (w *world) sync() *Plan {
	w.t.Helper()
	plan := w.plan()
	w.apply(plan)
	return plan
}

// apply applies a plan.
func (w *world) apply(plan *Plan) {
	w.t.Helper()
	w.ApplyPlan(&plan.Plan)
	for _, p := range plan.Patch {
		if len(p.Patch.Images) > 0 {
			w.Pod(p.Pod.Name).Generation++
		}
	}
	for i, r := range w.Revisions {
		if plan.CustomVersion != "" && r.Name == plan.Revisions.Update.Name {
			w.Revisions[i] = r.DeepCopy()
			w.Revisions[i].Labels[v1alpha1.SidecarSetCustomVersionLabel] = plan.CustomVersion
		}
	}
	if plan.Status != nil {
		w.set = w.set.DeepCopy()
		w.set.Status = *plan.Status
		w.set.ResourceVersion = w.Bump()
	}
}

// settle syncs, and lets the kubelets act, until nothing is planned any more.
func (w *world) settle() {
	w.t.Helper()
	for range 100 {
		plan := w.sync()
		if len(plan.Patch) == 0 && plan.Status == nil {
			return
		}
		w.kubelet()
	}
	w.t.Fatalf("it never settles: %s", w.plan())
}

// imageOf is the image that the spec of a pod has for a container.
func imageOf(pod *corev1.Pod, name string) string { return podstate.Container(pod, name).Image }

// updates are the names of the pods whose update begins, in order.
func updates(plan *Plan) (names []string) {
	for _, p := range plan.Patch {
		if p.Kind == rollout.PatchUpdateInPlace {
			names = append(names, p.Pod.Name)
		}
	}
	return names
}

// waits says why a pod waits, by the rules; empty if it does not.
func waits(plan *Plan, name string) (rules string) {
	for _, w := range slices.Concat(plan.Waiting, plan.NotUpgradable, plan.NotInjected) {
		if w.Pod.Name == name {
			rules += string(w.Reason.Rule) + " "
		}
	}
	return strings.TrimSpace(rules)
}

// beginWorkloadUpdate has the workload of the first pod begin to update main in place.
func beginWorkloadUpdate(w *world, at time.Time) {
	pod := w.Pods[0]
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
	state, err := json.Marshal(inplacev1alpha1.State{Revision: "web-2", UpdateTimestamp: metav1.NewTime(at),
		LastContainerStatuses: map[string]inplacev1alpha1.ContainerStatus{"main": {ImageID: "sha256:main:v1"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	pod.Annotations[inplacev1alpha1.StateAnnotation] = string(state)
	pod.Spec.Containers[1].Image = "main:v2"
	w.node().Recompute(pod)
}

// old is the SidecarSet as it was with a revision.
func old(w *world, number int) *v1alpha1.SidecarSet {
	set := w.set.DeepCopy()
	if err := injection.Read(set, w.Revisions[number-1]); err != nil {
		w.t.Fatal(err)
	}
	set.Status.LatestRevision = w.Revisions[number-1].Name
	return set
}
