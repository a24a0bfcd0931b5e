// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/podstate"
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
	t          testing.TB
	set        *v1alpha1.SidecarSet
	pods       []*corev1.Pod
	revisions  []*appsv1.ControllerRevision
	namespaces map[string]*corev1.Namespace
	features   injection.Features
	now        time.Time
	versions   int // that were given to objects
}

// newWorld has the SidecarSet demo, which selects app=web, with a spec in YAML.
func newWorld(t testing.TB, spec string) *world {
	t.Helper()
	w := &world{t: t, now: noon, versions: 100, set: &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{
		Name: "demo", UID: "uid-of-demo", ResourceVersion: "100", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))}}}
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
	w.set.ResourceVersion = w.version()
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
	w.set.ResourceVersion = w.version()
}

func (w *world) version() string {
	w.versions++
	return fmt.Sprint(w.versions)
}

// bare is a pod with the containers main, which runs, and nothing injected.
func (w *world) bare(name string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), Labels: map[string]string{"app": "web"},
			Generation: 1, ResourceVersion: w.version(), CreationTimestamp: metav1.NewTime(w.now)},
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
	r, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: sets, Revisions: w.revisions, Features: w.features, Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	r.Pod.Status.Phase = corev1.PodRunning
	w.pods = append(w.pods, r.Pod)
	w.kubelet(r.Pod.Name)
	return r.Pod
}

// pod is a pod by its name.
func (w *world) pod(name string) *corev1.Pod {
	w.t.Helper()
	for _, pod := range w.pods {
		if pod.Name == name {
			return pod
		}
	}
	w.t.Fatalf("there is no pod %s", name)
	return nil
}

// kubelet has the kubelets of pods, of all without names, do what they have to. Images
// "…:broken" cannot be pulled, and containers of images "…:crash" are never ready.
func (w *world) kubelet(names ...string) {
	for _, pod := range w.pods {
		if len(names) > 0 && !slices.Contains(names, pod.Name) {
			continue
		}
		natives := slices.DeleteFunc(slices.Clone(pod.Spec.InitContainers), func(c corev1.Container) bool { return c.RestartPolicy == nil })
		pod.Status.InitContainerStatuses = w.run(natives, pod.Status.InitContainerStatuses)
		pod.Status.ContainerStatuses = w.run(pod.Spec.Containers, pod.Status.ContainerStatuses)
		pod.Status.ObservedGeneration = pod.Generation
		judgeReady(pod, w.now)
	}
}

// run has containers run what their images say, and returns their statuses.
func (w *world) run(containers []corev1.Container, before []corev1.ContainerStatus) (after []corev1.ContainerStatus) {
	for _, c := range containers {
		status := corev1.ContainerStatus{Name: c.Name}
		if i := slices.IndexFunc(before, func(s corev1.ContainerStatus) bool { return s.Name == c.Name }); i >= 0 {
			status = before[i]
		}
		switch {
		case strings.HasSuffix(c.Image, ":broken"):
			status.Ready, status.State = false, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
		case status.Image != c.Image:
			if status.ContainerID != "" {
				status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ContainerID: status.ContainerID}
			}
			status.Image, status.ImageID, status.ContainerID = c.Image, "id-of-"+c.Image, "containerd://"+w.version()
			status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.now)}}
			status.Started = ptr.To(true) // of one with a startup probe it says so too early, as kubelets of 1.35 to 1.37 do
			fallthrough
		default:
			status.Ready = !strings.HasSuffix(c.Image, ":crash")
		}
		after = append(after, status)
	}
	return after
}

// judgeReady sets the condition Ready as a kubelet does.
func judgeReady(pod *corev1.Pod, now time.Time) {
	ready := corev1.ConditionTrue
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if !s.Ready {
			ready = corev1.ConditionFalse
		}
	}
	for _, gate := range pod.Spec.ReadinessGates {
		for _, c := range pod.Status.Conditions {
			if c.Type == gate.ConditionType && c.Status != corev1.ConditionTrue {
				ready = corev1.ConditionFalse
			}
		}
	}
	setReady(pod, ready, now)
}

func setReady(pod *corev1.Pod, ready corev1.ConditionStatus, now time.Time) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			if c.Status != ready {
				c.Status, c.LastTransitionTime = ready, metav1.NewTime(now)
			}
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(now)})
}

// down makes a container of a pod unready.
func (w *world) down(pod, container string) {
	w.t.Helper()
	p := w.pod(pod)
	for i := range p.Status.ContainerStatuses {
		if s := &p.Status.ContainerStatuses[i]; s.Name == container {
			s.Ready = false
		}
	}
	judgeReady(p, w.now)
}

// many has pods of which so many are updated to log:v2, and so many of the updated ones are ready.
func many(t testing.TB, strategy string, matched, updated, ready int) *world {
	t.Helper()
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	old := w.pods[0]
	w.image("log", "log:v2")
	w.sync()
	w.kubelet()
	w.settle()
	fresh := w.pods[0]
	w.edit("{updateStrategy: {" + strategy + "}}")
	w.pods = nil
	for i := range matched {
		pod := old.DeepCopy()
		if i < updated {
			pod = fresh.DeepCopy()
		}
		pod.Name, pod.UID = fmt.Sprintf("p%04d", i), types.UID(fmt.Sprint("uid-of-p", i))
		w.pods = append(w.pods, pod)
		if i >= ready && i < updated {
			w.down(pod.Name, "log")
		}
	}
	return w
}

func (w *world) snapshot() *Snapshot {
	return &Snapshot{Set: w.set, Pods: w.pods, Revisions: w.revisions, Namespaces: w.namespaces, Injection: w.features, Now: w.now}
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
	if r := plan.Revisions.Create; r != nil {
		r = r.DeepCopy()
		r.CreationTimestamp = metav1.NewTime(w.now)
		w.revisions = append(w.revisions, r)
	}
	for i, r := range w.revisions {
		if raise := plan.Revisions.Raise; raise != nil && r.Name == raise.Name {
			w.revisions[i] = r.DeepCopy()
			w.revisions[i].Revision = plan.Revisions.RaiseTo
		}
		if plan.CustomVersion != "" && r.Name == plan.Revisions.Update.Name {
			w.revisions[i] = w.revisions[i].DeepCopy()
			w.revisions[i].Labels[v1alpha1.SidecarSetCustomVersionLabel] = plan.CustomVersion
		}
	}
	for i := range plan.Patch {
		w.patch(&plan.Patch[i])
	}
	if plan.Status != nil {
		w.set = w.set.DeepCopy()
		w.set.Status = *plan.Status
		w.set.ResourceVersion = w.version()
	}
	w.revisions = slices.DeleteFunc(w.revisions, func(r *appsv1.ControllerRevision) bool {
		return slices.ContainsFunc(plan.Revisions.Delete, func(d *appsv1.ControllerRevision) bool { return d.Name == r.Name })
	})
}

func (w *world) patch(p *rollout.PodPatch) {
	w.t.Helper()
	after, err := p.Patch.Apply(p.Pod)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(p.Patch.Images) > 0 {
		after.Generation++
	}
	after.ResourceVersion = w.version()
	w.pods[slices.Index(w.pods, p.Pod)] = after
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

// updates are the names of the pods whose update begins, in order; resets those that are
// emptied.
func updates(plan *Plan) (names []string) { return patched(plan, rollout.PatchUpdateInPlace) }
func resets(plan *Plan) (names []string)  { return patched(plan, PatchReset) }

func patched(plan *Plan, kind rollout.PatchKind) (names []string) {
	for _, p := range plan.Patch {
		if p.Kind == kind {
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
	pod := w.pods[0]
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
	state, err := json.Marshal(inplacev1alpha1.State{Revision: "web-2", UpdateTimestamp: metav1.NewTime(at),
		LastContainerStatuses: map[string]inplacev1alpha1.ContainerStatus{"main": {ImageID: "id-of-main:v1"}}})
	if err != nil {
		w.t.Fatal(err)
	}
	pod.Annotations[inplacev1alpha1.StateAnnotation] = string(state)
	pod.Spec.Containers[1].Image = "main:v2"
	judgeReady(pod, w.now)
}

// old is the SidecarSet as it was with a revision.
func old(w *world, number int) *v1alpha1.SidecarSet {
	set := w.set.DeepCopy()
	if err := injection.Read(set, w.revisions[number-1]); err != nil {
		w.t.Fatal(err)
	}
	set.Status.LatestRevision = w.revisions[number-1].Name
	return set
}
