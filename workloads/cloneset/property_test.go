package cloneset

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlanKeepsItsPromises changes a CloneSet and its pods at random and checks
// every plan on the way. When nobody interferes any more, the CloneSet must
// come to rest where its spec wants it.
func TestPlanKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.spec("replicas", fmt.Sprint(rapid.IntRange(0, 8).Draw(rt, "replicas")))
		w.spec("type", rapid.SampledFrom([]string{"ReCreate", "InPlaceIfPossible"}).Draw(rt, "type"))
		w.features.PartitionRollback = rapid.Bool().Draw(rt, "partitionRollback")
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.interfere(rt)
			plan := NewPlan(w.snapshot())
			checkPlan(rt, w, plan)
			w.carryOut(plan)
		}
		w.comeToRest(rt)
	})
}

// interfere does what users, kubelets and nodes do.
func (w *world) interfere(rt *rapid.T) {
	number := func(name string, most int) string { return fmt.Sprint(rapid.IntRange(0, most).Draw(rt, name)) }
	switch rapid.SampledFrom([]string{
		"kubelet", "kubelet", "kubelet", "kubelet", "kubelet", "image", "partition", "maxUnavailable", "maxSurge", "replicas",
		"scaleMaxUnavailable", "pick", "unpick", "userDelete", "fail", "paused", "env", "hook", "label", "nothing",
	}).Draw(rt, "event") {
	case "kubelet":
		for _, pod := range w.some(rt) {
			w.kubelet(pod.Name)
		}
	case "image":
		w.spec("image", "nginx:"+number("tag", 2))
	case "env":
		w.spec("env", number("env", 2))
	case "partition":
		w.spec("partition", number("partition", 9))
	case "maxUnavailable":
		w.spec("maxUnavailable", fmt.Sprint(rapid.IntRange(1, 4).Draw(rt, "maxUnavailable")))
	case "maxSurge":
		w.spec("maxSurge", number("maxSurge", 3))
	case "replicas":
		w.spec("replicas", number("replicas", 8))
	case "scaleMaxUnavailable":
		w.spec("scaleMaxUnavailable", fmt.Sprint(rapid.IntRange(1, 4).Draw(rt, "scaleMaxUnavailable")))
	case "paused":
		w.spec("paused", rapid.SampledFrom([]string{"true", "false"}).Draw(rt, "paused"))
	case "hook":
		hook := rapid.SampledFrom([]string{"preDelete", "inPlaceUpdate"}).Draw(rt, "hook")
		w.spec(hook, rapid.SampledFrom([]string{"hold", ""}).Draw(rt, "holds"))
	default:
		w.interferePod(rt)
	}
	w.set.Generation++
}

func (w *world) interferePod(rt *rapid.T) {
	for _, pod := range w.some(rt) {
		switch rapid.SampledFrom([]string{"pick", "unpick", "userDelete", "fail", "hold", "release"}).Draw(rt, "to "+w.aliasOf(pod.Name)) {
		case "pick":
			w.edit(pod.Name, func(p *corev1.Pod) { p.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel] = "true" })
		case "unpick":
			w.edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.SpecifiedDeleteLabel) })
		case "userDelete":
			w.remove(pod.Name)
		case "fail":
			w.edit(pod.Name, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		case "hold":
			w.edit(pod.Name, func(p *corev1.Pod) { p.Labels["hold"] = "true" })
		case "release":
			w.edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, "hold") })
		}
	}
}

func (w *world) some(rt *rapid.T) (pods []*corev1.Pod) {
	for _, pod := range w.pods {
		if rapid.Bool().Draw(rt, w.aliasOf(pod.Name)) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// checkPlan checks what must hold for every plan.
func checkPlan(rt *rapid.T, w *world, plan *Plan) {
	if len(plan.Problems) > 0 {
		rt.Fatalf("problem: %v", plan.Problems[0].Err)
	}
	replicas := w.snapshot().replicas()
	surge, _ := rollout.MaxSurge(w.set.Spec.UpdateStrategy.MaxSurge, replicas)
	unavailable, _ := rollout.MaxUnavailable(w.set.Spec.UpdateStrategy.MaxUnavailable, replicas, surge)

	var owned int32
	for _, pod := range w.pods {
		if active(pod) {
			owned++
		}
	}
	if n := int32(len(plan.Create)); n > 0 && owned+n > replicas+surge {
		rt.Fatalf("creates %d pods beside %d, replicas %d, maxSurge %d", n, owned, replicas, surge)
	}
	if len(plan.Create) > 0 && len(plan.Delete) > 0 {
		rt.Fatalf("creates and deletes in one pass")
	}
	checkAvailable(rt, w, plan, replicas-unavailable)
	checkPodsOnce(rt, plan)

	s := w.snapshot()
	slices.Reverse(s.Pods)
	slices.Reverse(s.Revisions)
	if diff := cmp.Diff(decisions(plan), decisions(NewPlan(s))); diff != "" {
		rt.Fatalf("another order of the same snapshot gives another plan: %s", diff)
	}
}

// checkAvailable: the plan itself takes no pods out of service below the limit.
func checkAvailable(rt *rapid.T, w *world, plan *Plan, least int32) {
	taken := int32(0)
	take := func(pod *corev1.Pod) {
		if lifecycle.Available(pod, w.set.Spec.MinReadySeconds, w.now) {
			taken++
		}
	}
	for _, d := range plan.Delete {
		take(d.Pod)
	}
	for _, p := range plan.Patch {
		if p.Kind == rollout.PatchPrepare || p.Kind == rollout.PatchUpdateInPlace {
			take(p.Pod)
		}
	}
	if before := w.available(); taken > 0 && before-taken < least {
		rt.Fatalf("takes %d of %d available pods out of service, at least %d must stay", taken, before, least)
	}
}

func checkPodsOnce(rt *rapid.T, plan *Plan) {
	seen := map[string]bool{}
	once := func(pod *corev1.Pod) {
		if seen[pod.Name] {
			rt.Fatalf("pod %s is changed twice", pod.Name)
		}
		seen[pod.Name] = true
	}
	for _, d := range plan.Delete {
		once(d.Pod)
	}
	for _, p := range plan.Patch {
		once(p.Pod)
	}
}

// decisions is what a plan does, in a form that can be compared.
func decisions(plan *Plan) (out []string) {
	for _, c := range plan.Create {
		out = append(out, "create "+c.Pod.Name+" "+c.Pod.Labels[revisionLabel])
	}
	for _, d := range plan.Delete {
		out = append(out, "delete "+d.Pod.Name)
	}
	for _, p := range plan.Patch {
		out = append(out, fmt.Sprintf("%s %s", p.Kind, p.Pod.Name))
	}
	for _, wait := range plan.Waiting {
		name := ""
		if wait.Pod != nil {
			name = wait.Pod.Name
		}
		out = append(out, "wait "+name+" "+wait.Reason.String())
	}
	slices.Sort(out)
	return out
}

// comeToRest lets go of everything that holds the CloneSet, and checks where it ends.
func (w *world) comeToRest(rt *rapid.T) {
	w.set.Spec.Lifecycle, w.set.Spec.UpdateStrategy.Paused = nil, false
	for _, pod := range w.pods {
		w.edit(pod.Name, func(p *corev1.Pod) { delete(p.Labels, lifecyclev1alpha1.SpecifiedDeleteLabel) })
	}
	for range 300 {
		for _, pod := range w.pods {
			w.kubelet(pod.Name)
		}
		plan := NewPlan(w.snapshot())
		checkPlan(rt, w, plan)
		if len(plan.Create)+len(plan.Delete)+len(plan.Patch) == 0 && plan.Revisions.Create == nil && plan.Status == nil {
			w.checkRest(rt, plan)
			return
		}
		w.carryOut(plan)
	}
	rt.Fatalf("does not come to rest")
}

func (w *world) checkRest(rt *rapid.T, plan *Plan) {
	replicas := w.snapshot().replicas()
	partition, _ := rollout.Partition(w.set.Spec.UpdateStrategy.Partition, replicas)
	status := w.set.Status
	if w.available() != replicas || status.Replicas != replicas || status.AvailableReplicas != replicas {
		rt.Fatalf("rests with %d pods available, status %+v, want %d replicas", w.available(), status, replicas)
	}
	if status.UpdatedReplicas < replicas-partition {
		rt.Fatalf("rests with %d pods updated, want at least %d: %v", status.UpdatedReplicas, replicas-partition, decisions(plan))
	}
	if status.UpdatedReplicas == replicas && status.CurrentRevision != status.UpdateRevision {
		rt.Fatalf("all pods are updated, and the current revision is still %s", status.CurrentRevision)
	}
}
