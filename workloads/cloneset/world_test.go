package cloneset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// world is a cluster in which plans are carried out exactly as they say, with a
// kubelet that acts when it is told to. It knows no API server: plans and
// patches are all that moves it.
type world struct {
	t         *testing.T
	set       *v1alpha1.CloneSet
	pods      []*corev1.Pod // by age
	claims    []*corev1.PersistentVolumeClaim
	revisions []*appsv1.ControllerRevision
	now       time.Time
	features  Features
	version   int
	alias     map[string]string // pod name to p1, p2, …
	created   int
}

func newWorld(t *testing.T) *world {
	one := int32(1)
	return &world{
		t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), alias: map[string]string{},
		set: &v1alpha1.CloneSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-web", Generation: 1, ResourceVersion: "1"},
			Spec: v1alpha1.CloneSetSpec{
				Replicas: &one,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
				},
			},
		},
	}
}

func (w *world) bump() string { w.version++; return fmt.Sprint(w.version) }

func (w *world) snapshot() *Snapshot {
	return &Snapshot{
		Set: w.set.DeepCopy(), Pods: slices.Clone(w.pods), Claims: slices.Clone(w.claims),
		Revisions: slices.Clone(w.revisions), Now: w.now, Features: w.features,
	}
}

// carryOut does to the world what a plan says.
func (w *world) carryOut(plan *Plan) {
	if r := plan.Revisions.Create; r != nil {
		r = r.DeepCopy()
		r.UID = types.UID("uid-" + r.Name)
		w.revisions = append(w.revisions, r)
	}
	if plan.Revisions.Raise != nil {
		for i, r := range w.revisions {
			if r.Name == plan.Revisions.Raise.Name {
				w.revisions[i] = r.DeepCopy()
				w.revisions[i].Revision = plan.Revisions.RaiseTo
			}
		}
	}
	for _, d := range plan.Delete {
		w.remove(d.Pod.Name)
		for _, claim := range d.Claims {
			w.removeClaim(claim.Name)
		}
	}
	for _, claim := range plan.DeleteClaims {
		w.removeClaim(claim.Name)
	}
	for _, h := range plan.HandOver {
		w.removeClaim(h.Claim.Name) // it is the pod's from now on
	}
	for _, p := range plan.Patch {
		w.patch(p)
	}
	for _, c := range plan.Create {
		w.create(c)
	}
	for _, r := range plan.Revisions.Delete {
		w.revisions = slices.DeleteFunc(w.revisions, func(have *appsv1.ControllerRevision) bool { return have.Name == r.Name })
	}
	if plan.PrunePodsToDelete {
		w.set.Spec.ScaleStrategy.PodsToDelete = plan.PodsToDelete
		w.set.Generation++
	}
	if plan.Status != nil {
		w.set.Status = *plan.Status.DeepCopy()
	}
	w.set.ResourceVersion = w.bump()
}

func (w *world) create(c rollout.PodCreation) {
	if slices.ContainsFunc(w.pods, func(p *corev1.Pod) bool { return p.Name == c.Pod.Name }) {
		w.t.Fatalf("the plan creates pod %s, which exists", c.Pod.Name)
	}
	for _, claim := range c.Claims {
		claim = claim.DeepCopy()
		claim.UID = types.UID("uid-" + claim.Name)
		w.claims = append(w.claims, claim)
	}
	pod := c.Pod.DeepCopy()
	pod.UID = types.UID("uid-" + pod.Name)
	pod.CreationTimestamp = metav1.NewTime(w.now)
	pod.ResourceVersion = w.bump()
	pod.Status.Phase = corev1.PodPending
	w.created++
	w.alias[pod.Name] = fmt.Sprintf("p%d", w.created)
	w.pods = append(w.pods, pod)
}

func (w *world) patch(p rollout.PodPatch) {
	i := slices.IndexFunc(w.pods, func(have *corev1.Pod) bool { return have.Name == p.Pod.Name })
	if i < 0 {
		w.t.Fatalf("the plan patches pod %s, which does not exist", p.Pod.Name)
	}
	writes, err := p.Patch.Writes(w.pods[i])
	if err != nil {
		w.t.Fatal(err)
	}
	if len(writes) == 0 {
		w.t.Fatalf("the plan patches pod %s (%s) without a change", p.Pod.Name, p.Kind)
	}
	for _, write := range writes {
		before, err := json.Marshal(w.pods[i])
		if err != nil {
			w.t.Fatal(err)
		}
		after, err := strategicpatch.StrategicMergePatch(before, write.Data, corev1.Pod{})
		if err != nil {
			w.t.Fatalf("patch of pod %s: %v", p.Pod.Name, err)
		}
		pod := &corev1.Pod{}
		if err := json.Unmarshal(after, pod); err != nil {
			w.t.Fatal(err)
		}
		pod.ResourceVersion = w.bump()
		w.pods[i] = pod
	}
}

// remove deletes a pod; with finalizers it stays, terminating.
func (w *world) remove(name string) {
	w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return p.Name == name && len(p.Finalizers) == 0 })
	w.edit(name, func(p *corev1.Pod) {
		now := metav1.NewTime(w.now)
		p.DeletionTimestamp = &now
	})
}

func (w *world) removeClaim(name string) {
	w.claims = slices.DeleteFunc(w.claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Name == name })
}

// edit changes a pod as somebody else would.
func (w *world) edit(name string, do func(*corev1.Pod)) {
	for i, pod := range w.pods {
		if pod.Name == name {
			w.pods[i] = pod.DeepCopy()
			do(w.pods[i])
			w.pods[i].ResourceVersion = w.bump()
		}
	}
}

// kubelet brings one pod as far as a kubelet can.
func (w *world) kubelet(name string) {
	w.edit(name, func(pod *corev1.Pod) {
		if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
			return
		}
		pod.Spec.NodeName = "node-" + strings.TrimPrefix(w.alias[name], "p")
		pod.Status.Phase = corev1.PodRunning
		old := map[string]corev1.ContainerStatus{}
		for _, s := range pod.Status.ContainerStatuses {
			old[s.Name] = s
		}
		pod.Status.ContainerStatuses = nil
		for _, c := range pod.Spec.Containers {
			s, ran := old[c.Name]
			if ran && s.Image != c.Image {
				s.RestartCount++
			}
			s.Name, s.Image, s.ImageID, s.Ready = c.Name, c.Image, "sha256:"+c.Image, !strings.Contains(c.Image, "bad")
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, s)
		}
		w.recompute(pod)
	})
}

func (w *world) recompute(pod *corev1.Pod) {
	containers, ready := corev1.ConditionTrue, corev1.ConditionTrue
	for _, s := range pod.Status.ContainerStatuses {
		if !s.Ready {
			containers = corev1.ConditionFalse
		}
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if c := readiness.Condition(pod, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			ready = corev1.ConditionFalse
		}
	}
	if containers == corev1.ConditionFalse {
		ready = corev1.ConditionFalse
	}
	w.condition(pod, corev1.ContainersReady, containers)
	w.condition(pod, corev1.PodReady, ready)
}

func (w *world) condition(pod *corev1.Pod, t corev1.PodConditionType, status corev1.ConditionStatus) {
	if c := readiness.Condition(pod, t); c != nil {
		if c.Status != status {
			c.Status, c.Reason, c.Message, c.LastTransitionTime = status, "", "", metav1.NewTime(w.now)
		}
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: t, Status: status, LastTransitionTime: metav1.NewTime(w.now)})
}

// name finds a pod by its alias.
func (w *world) name(alias string) string {
	for name, a := range w.alias {
		if a == alias {
			return name
		}
	}
	w.t.Fatalf("there is no pod %s", alias)
	return ""
}

// aliases names pods in the order of their age.
func (w *world) aliases(pods []*corev1.Pod) string {
	var names []string
	for _, p := range pods {
		names = append(names, w.aliasOf(p.Name))
	}
	if len(names) == 0 {
		return "new pods"
	}
	return strings.Join(names, " ")
}

func (w *world) aliasOf(name string) string {
	if a, ok := w.alias[name]; ok {
		return a
	}
	return "new"
}

// unalias makes text about pods readable.
func (w *world) unalias(text string) string {
	for _, name := range slices.Sorted(maps.Keys(w.alias)) {
		text = strings.ReplaceAll(text, name, w.alias[name])
	}
	return text
}

// available counts the pods that serve.
func (w *world) available() (n int32) {
	for _, pod := range w.pods {
		if active(pod) && lifecycle.Available(pod, w.set.Spec.MinReadySeconds, w.now) {
			n++
		}
	}
	return n
}
