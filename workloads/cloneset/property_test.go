// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlanKeepsItsPromises changes a CloneSet and its pods at random and checks
// every plan on the way. When nothing interferes any more, the CloneSet must
// settle as its spec wants it.
func TestPlanKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newScenario(rt)
		w.Spec(fmt.Sprint("replicas=", rapid.IntRange(0, 8).Draw(rt, "replicas")))
		w.Spec("type=" + rapid.SampledFrom([]string{"ReCreate", "InPlaceIfPossible"}).Draw(rt, "type"))
		w.Spec("claims=" + rapid.SampledFrom([]string{"", "data", "data,logs"}).Draw(rt, "claims"))
		w.Graceful = rapid.Bool().Draw(rt, "graceful")
		w.features.PartitionRollback = rapid.Bool().Draw(rt, "partitionRollback")
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.interfere(rt)
			plan := NewPlan(w.snapshot())
			checkPlan(rt, w, plan)
			w.apply(plan)
		}
		w.converge(rt)
	})
}

// missing is an image that no registry has.
const missing = "nginx:missing"

// interfere does what users, kubelets and nodes do.
func (w *setScenario) interfere(rt *rapid.T) {
	number := func(name string, most int) string { return fmt.Sprint(rapid.IntRange(0, most).Draw(rt, name)) }
	switch rapid.SampledFrom([]string{
		"kubelet", "kubelet", "kubelet", "kubelet", "kubelet", "image", "partition", "maxUnavailable", "maxSurge", "replicas",
		"scaleMaxUnavailable", "mark", "unmark", "userDelete", "fail", "paused", "env", "hook", "label", "priority", "quota", "refuse",
		"claims", "disablePVCReuse", "collect", "deleteClaim", "nothing",
	}).Draw(rt, "event") {
	case "kubelet":
		for _, pod := range w.Some(rt) {
			w.Kubelet(pod.Name)
		}
	case "image":
		w.Spec("image=nginx:" + rapid.SampledFrom([]string{"0", "1", "2", "missing"}).Draw(rt, "tag"))
	case "priority":
		w.Spec("priority=hold")
	case "env":
		w.Spec("env=" + number("env", 2))
	case "partition":
		w.Spec("partition=" + number("partition", 9))
	case "maxUnavailable":
		w.Spec("maxUnavailable=" + number("maxUnavailable", 4))
		w.roomToUpdate()
	case "maxSurge":
		w.Spec("maxSurge=" + number("maxSurge", 3))
		w.roomToUpdate()
	case "replicas":
		w.Spec("replicas=" + number("replicas", 8))
	case "scaleMaxUnavailable":
		w.Spec(fmt.Sprint("scaleMaxUnavailable=", rapid.IntRange(1, 4).Draw(rt, "scaleMaxUnavailable")))
	case "quota":
		w.Quota = rapid.IntRange(0, 8).Draw(rt, "quota")
	case "refuse":
		w.Refused = map[string]bool{"create": rapid.Bool().Draw(rt, "refuse create"), "delete": rapid.Bool().Draw(rt, "refuse delete")}
	case "claims":
		w.Spec("claims=" + rapid.SampledFrom([]string{"data", "data,logs", "logs"}).Draw(rt, "claims"))
	case "disablePVCReuse":
		w.Spec("disablePVCReuse=" + rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "disablePVCReuse"))
	case "collect":
		w.Collect()
	case "deleteClaim":
		if len(w.Claims) > 0 {
			w.RemoveClaim(rapid.SampledFrom(w.Claims).Draw(rt, "claim").Name)
		}
	case "paused":
		w.Spec("paused=" + rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "paused"))
	case "hook":
		hook := rapid.SampledFrom([]string{"preDelete", "inPlaceUpdate"}).Draw(rt, "hook")
		w.Spec(hook + "=" + rapid.SampledFrom([]string{"hold", ""}).Draw(rt, "holds"))
	default:
		w.interferePod(rt)
	}
}

// roomToUpdate sees to it that one of maxUnavailable and maxSurge is not 0, as
// the validation does.
func (w *setScenario) roomToUpdate() {
	strategy, zero := w.set.Spec.UpdateStrategy, intstr.FromInt32(0)
	if ptr.Deref(strategy.MaxSurge, zero) == zero && strategy.MaxUnavailable != nil && *strategy.MaxUnavailable == zero {
		w.Spec("maxUnavailable=1")
	}
}

func (w *setScenario) interferePod(rt *rapid.T) {
	for _, pod := range w.Some(rt) {
		switch rapid.SampledFrom([]string{"mark", "unmark", "userDelete", "fail", "reject", "hold", "release", "quarantine"}).Draw(rt, "to "+w.Alias(pod.Name)) {
		case "mark":
			w.Edit(pod.Name, func(p *corev1.Pod) { p.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel] = "true" })
		case "unmark":
			w.Edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.SpecifiedDeleteLabel) })
		case "userDelete":
			w.Remove(pod.Name)
		case "fail":
			w.Edit(pod.Name, func(p *corev1.Pod) {
				p.Status.Phase, p.Status.ContainerStatuses = corev1.PodFailed, []corev1.ContainerStatus{{Name: "main", ContainerID: "ran"}}
			})
		case "reject":
			w.Edit(pod.Name, func(p *corev1.Pod) { p.Status.Phase, p.Status.ContainerStatuses = corev1.PodFailed, nil })
		case "quarantine":
			w.Edit(pod.Name, func(p *corev1.Pod) { p.Labels["app"] = "quarantine" })
		case "hold":
			w.Edit(pod.Name, func(p *corev1.Pod) { p.Labels["hold"] = "true" })
		case "release":
			w.Edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, "hold") })
		}
	}
}

// rejected counts the pods that failed and never ran, those among them that are to be released.
func (w *setScenario) rejected() (n int) {
	for _, pod := range owned(w, w.Pods) {
		if pod.Status.Phase == corev1.PodFailed && len(pod.Status.ContainerStatuses) == 0 {
			n++
		}
	}
	return n
}

// checkPlan checks what must hold for every plan.
func checkPlan(rt *rapid.T, w *setScenario, plan *Plan) {
	replicas := w.snapshot().replicas()
	if len(plan.Problems) > 0 && w.rejected() <= max(int(replicas), 1) { // otherwise it is said that kubelets reject pods (CT-8)
		rt.Fatalf("problem: %v", plan.Problems[0].Err)
	}
	surge, _ := rollout.MaxSurge(w.set.Spec.UpdateStrategy.MaxSurge, replicas)
	unavailable, _ := rollout.MaxUnavailable(w.set.Spec.UpdateStrategy.MaxUnavailable, replicas, surge)

	var owned int32
	for _, pod := range w.own() {
		if podstate.Active(pod) {
			owned++
		}
	}
	if n := int32(len(plan.Create)); n > 0 && owned+n > replicas+surge {
		rt.Fatalf("creates %d pods beside %d, replicas %d, maxSurge %d", n, owned, replicas, surge)
	}
	checkClaims(rt, w, plan)
	if len(plan.Create) > 0 && len(plan.Delete) > 0 {
		rt.Fatalf("creates and deletes in one reconcile")
	}
	if !plan.Otherwise.Empty() && !slices.ContainsFunc(plan.Patch, func(p rollout.PodPatch) bool { return p.Kind.AffectsAvailability() }) && len(plan.Create)+len(plan.Delete) == 0 {
		rt.Fatalf("plans %+v in place of nothing", plan.Otherwise)
	}
	checkAvailable(rt, w, &plan.Stage, replicas-unavailable)
	checkAvailable(rt, w, &plan.Otherwise, replicas-unavailable)
	moves(plan).CheckOnce(rt)
	refused(plan).CheckOnce(rt)

	s := w.snapshot()
	slices.Reverse(s.Pods)
	slices.Reverse(s.Revisions)
	again := NewPlan(s)
	if diff := cmp.Diff(moves(plan).Decisions(), moves(again).Decisions()); diff != "" {
		rt.Fatalf("another order of the same snapshot gives another plan: %s", diff)
	}
	if diff := cmp.Diff(refused(plan).Decisions(), refused(again).Decisions()); diff != "" {
		rt.Fatalf("another order of the same snapshot gives another plan, where the first stage is refused: %s", diff)
	}
}

// own are the pods that the CloneSet has not released, and will not.
func (w *setScenario) own() (own []*corev1.Pod) {
	for _, pod := range owned(w, w.Pods) {
		if pod.Labels["app"] == "web" {
			own = append(own, pod)
		}
	}
	return own
}

func (w *setScenario) availableOwn() (n int32) {
	for _, pod := range w.own() {
		if podstate.Active(pod) && lifecycle.Available(pod, w.set.Spec.MinReadySeconds, w.Now) {
			n++
		}
	}
	return n
}

// checkClaims: no claim goes that a pod mounts and still needs, and no new pod
// mounts one that goes.
func checkClaims(rt *rapid.T, w *setScenario, plan *Plan) {
	for _, claim := range plan.DeleteClaims {
		for _, pod := range w.Pods {
			if mounts(pod, claim.Name) {
				rt.Fatalf("deletes claim %s of pod %s", claim.Name, pod.Name)
			}
		}
	}
	for _, creation := range plan.Create {
		for _, claim := range w.Claims {
			if claim.DeletionTimestamp != nil && mounts(creation.Pod, claim.Name) {
				rt.Fatalf("creates pod %s with claim %s, which is terminating", creation.Pod.Name, claim.Name)
			}
		}
		if w.Pod(creation.Pod.Name) != nil {
			rt.Fatalf("creates pod %s, which exists", creation.Pod.Name)
		}
	}
}

// checkAvailable: the plan itself takes no pods out of service below the limit.
func checkAvailable(rt *rapid.T, w *setScenario, stage *rollout.Stage, least int32) {
	taken := int32(0)
	take := func(pod *corev1.Pod) {
		if lifecycle.Available(pod, w.set.Spec.MinReadySeconds, w.Now) {
			taken++
		}
	}
	for _, d := range stage.Delete {
		take(d.Pod)
	}
	for _, p := range stage.Patch {
		if p.Kind == rollout.PatchPrepare || p.Kind == rollout.PatchUpdateInPlace {
			take(p.Pod)
		}
	}
	if before := w.availableOwn(); taken > 0 && before-taken < least {
		rt.Fatalf("takes %d of %d available pods out of service, at least %d must stay", taken, before, least)
	}
}

// moves is what a plan does with pods.
func moves(plan *Plan) scenario.PodChanges {
	m := scenario.PodChanges{Create: plan.Create, Patch: plan.Patch, Waiting: plan.Waiting}
	for _, d := range plan.Delete {
		m.Delete = append(m.Delete, d.Pod)
	}
	return m
}

// refused is what a plan does with pods if its first stage moves none.
func refused(plan *Plan) scenario.PodChanges {
	m := scenario.PodChanges{Create: plan.Otherwise.Create, Patch: slices.Clone(plan.Otherwise.Patch), Waiting: plan.Waiting}
	for _, d := range plan.Otherwise.Delete {
		m.Delete = append(m.Delete, d.Pod)
	}
	for _, p := range plan.Patch {
		if !p.Kind.AffectsAvailability() {
			m.Patch = append(m.Patch, p)
		}
	}
	return m
}

// converge removes everything that holds the CloneSet, and checks its last state. Broken pods are not healed: it takes a good
// template to repair them.
func (w *setScenario) converge(rt *rapid.T) {
	w.set.Spec.Lifecycle, w.set.Spec.UpdateStrategy.Paused = nil, false
	w.Quota, w.Refused = 0, nil
	if w.broken() {
		w.Spec("image=nginx:9", "partition=0")
	}
	for _, pod := range w.Pods {
		w.Edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.SpecifiedDeleteLabel) })
	}
	for range 300 {
		w.Kubelets()
		w.Collect()
		plan := NewPlan(w.snapshot())
		checkPlan(rt, w, plan)
		if !acts(plan) && plan.RequeueAfter == 0 {
			w.checkSettled(rt, plan)
			return
		}
		w.apply(plan)
		w.Now = w.Now.Add(plan.RequeueAfter)
	}
	rt.Fatalf("does not settle")
}

// broken tells whether the template is, or what pods are at, or are created at
// behind the partition.
func (w *setScenario) broken() bool {
	return w.set.Spec.Template.Spec.Containers[0].Image == missing ||
		slices.ContainsFunc(w.Pods, func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == missing }) ||
		slices.ContainsFunc(w.Revisions, func(r *appsv1.ControllerRevision) bool {
			return r.Name == w.set.Status.CurrentRevision && strings.Contains(string(r.Data.Raw), missing)
		})
}

func (w *setScenario) checkSettled(rt *rapid.T, plan *Plan) {
	replicas := w.snapshot().replicas()
	partition, _ := rollout.Partition(w.set.Spec.UpdateStrategy.Partition, replicas)
	status := w.set.Status
	if w.availableOwn() != replicas || status.Replicas != replicas || status.AvailableReplicas != replicas {
		rt.Fatalf("settles with %d pods available, status %+v, want %d replicas", w.availableOwn(), status, replicas)
	}
	if status.UpdatedReplicas < replicas-partition {
		rt.Fatalf("settles with %d pods updated, want at least %d: %v", status.UpdatedReplicas, replicas-partition, moves(plan).Decisions())
	}
	if status.UpdatedReplicas == replicas && status.CurrentRevision != status.UpdateRevision {
		rt.Fatalf("all pods are updated, and the current revision is still %s", status.CurrentRevision)
	}
}
