// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle/readiness"
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
	// sees is what the controller sees beside pods, revisions and the time.
	sees     Snapshot
	others   []*v1alpha1.SidecarSet // are injected, too
	versions map[string]string      // of the SidecarSet, as they are shown
}

// newWorld has the SidecarSet demo, which selects app=web, with a spec in YAML.
func newWorld(t testing.TB, spec string) *world {
	t.Helper()
	w := &world{Cluster: scenario.New(t, metav1.OwnerReference{}, nil), versions: map[string]string{}}
	w.sees.Set = &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{
		Name: "demo", UID: "uid-of-demo", ResourceVersion: "100", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}
	w.Now = noon
	w.edit(spec)
	return w
}

// edit changes the spec as a user does: the fields in YAML are set.
func (w *world) edit(spec string) {
	w.T.Helper()
	set := w.sees.Set
	if err := yaml.UnmarshalStrict([]byte("spec: "+spec), set); err != nil {
		w.T.Fatalf("%v\n%s", err, spec)
	}
	if set.Spec.Selector == nil {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	w.sees.Injection.Default(set)
	w.edited()
}

func (w *world) edited() {
	w.sees.Set.Generation++
	w.sees.Set.ResourceVersion = w.Bump()
}

// image sets the image of a container of the SidecarSet.
func (w *world) image(name, image string) {
	for i := range w.sees.Set.Spec.Containers {
		if c := &w.sees.Set.Spec.Containers[i]; c.Name == name {
			c.Image = image
		}
	}
	w.edited()
}

// bare is a pod with the containers main, which runs, and nothing injected.
func (w *world) bare(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), Labels: map[string]string{"app": "web"},
			Generation: 1, ResourceVersion: w.Bump(), CreationTimestamp: metav1.NewTime(w.Now)},
		Spec:   corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Image: "main:v1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// add adds pods as the webhook makes them, and lets their kubelets act.
func (w *world) add(names ...string) {
	w.T.Helper()
	for _, name := range names {
		w.addAs(name, append(slices.Clip(w.others), w.sees.Set)...)
	}
}

// addAs adds a pod that SidecarSets were injected into.
func (w *world) addAs(name string, sets ...*v1alpha1.SidecarSet) {
	w.T.Helper()
	r, err := injection.Inject(injection.Input{Pod: w.bare(name), SidecarSets: sets, Revisions: w.Revisions,
		Features: w.sees.Injection, Now: w.Now})
	w.must(err)
	r.Pod.Status.Phase = corev1.PodRunning
	w.Pods = append(w.Pods, r.Pod)
	w.Kubelet(name)
}

func (w *world) must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

// down makes a container of a pod unready.
func (w *world) down(pod, container string) {
	w.Edit(pod, func(p *corev1.Pod) {
		podstate.ContainerStatus(p, container).Ready = false
		w.Recompute(p)
	})
}

// many has pods of which so many are updated to log:v2, and so many of the updated ones are ready.
func many(t testing.TB, strategy string, matched, updated, ready int) *world {
	t.Helper()
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	old := w.Pods[0]
	w.image("log", "log:v2")
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

// snapshot is what the controller sees now.
func (w *world) snapshot() *Snapshot {
	s := w.sees
	s.Pods, s.Revisions, s.Now = w.Pods, w.Revisions, w.Now
	return &s
}

// plan is what the controller would do now. That does not depend on the order of lists.
func (w *world) plan() *Plan {
	w.T.Helper()
	reversed := w.snapshot()
	reversed.Pods, reversed.Revisions = slices.Clone(w.Pods), slices.Clone(w.Revisions)
	slices.Reverse(reversed.Pods)
	slices.Reverse(reversed.Revisions)
	plan := NewPlan(w.snapshot())
	if other := NewPlan(reversed); other.String() != plan.String() {
		w.T.Errorf("plan %s\nin another order %s", plan, other)
	}
	return plan
}

// sync plans and applies what is planned, and returns that.
func (w *world) sync() *Plan {
	w.T.Helper()
	plan := w.plan()
	w.apply(plan)
	return plan
}

// apply applies a plan. Each pod is to be written once, and only if it has not changed. (SCS-11)
func (w *world) apply(plan *Plan) {
	w.T.Helper()
	for _, p := range plan.Patch {
		if writes, err := p.Patch.Writes(p.Pod); err != nil || len(writes) != 1 || !p.Patch.IfUnchanged {
			w.T.Errorf("%d writes of pod %s, error %v: want one, which is refused if the pod has changed", len(writes), p.Pod.Name, err)
		}
	}
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
		w.sees.Set = w.sees.Set.DeepCopy()
		w.sees.Set.Status = *plan.Status
		w.sees.Set.ResourceVersion = w.Bump()
	}
}

// settle syncs, and lets the kubelets act, until nothing is planned any more.
func (w *world) settle() {
	w.T.Helper()
	for range 100 {
		if plan := w.sync(); len(plan.Patch) == 0 && plan.Status == nil {
			return
		}
		w.Kubelets()
	}
	w.T.Fatalf("it never settles: %s", w.plan())
}

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
func (w *world) beginWorkloadUpdate(at time.Time) {
	w.Edit(w.Pods[0].Name, func(pod *corev1.Pod) {
		readiness.AddGate(&pod.Spec, inplacev1alpha1.InPlaceUpdateReady)
		w.SetCondition(pod, inplacev1alpha1.InPlaceUpdateReady, corev1.ConditionFalse)
		annotatePod(pod, inplacev1alpha1.StateAnnotation, inplacev1alpha1.State{Revision: "web-2", UpdateTimestamp: metav1.NewTime(at),
			LastContainerStatuses: map[string]inplacev1alpha1.ContainerStatus{"main": {ImageID: "sha256:main:v1"}}})
		podstate.Container(pod, "main").Image = "main:v2"
		w.Recompute(pod)
	})
}
