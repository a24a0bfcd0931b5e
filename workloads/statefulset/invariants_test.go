// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// judge knows by the spec, and not by the planner, what a plan may do in the
// present state of a world.
type judge struct {
	*setScenario
	wanted  []int
	end     int // the last wanted ordinal plus one
	pods    map[int]*corev1.Pod
	rolling v1beta1.RollingUpdateStatefulSetStrategy
	ordered bool
	max     int // maxUnavailable
}

// reserves tells whether a list of numbers and ranges names an ordinal.
func reserves(list []intstr.IntOrString, ordinal int) bool {
	return slices.ContainsFunc(list, func(entry intstr.IntOrString) bool {
		first, last := int(entry.IntVal), int(entry.IntVal)
		if entry.Type == intstr.String {
			_, _ = fmt.Sscanf(entry.StrVal, "%d-%d", &first, &last)
		}
		return first <= ordinal && ordinal <= last
	})
}

func (w *setScenario) judge() *judge {
	spec := &w.set.Spec
	j := &judge{setScenario: w, pods: map[int]*corev1.Pod{}, max: 1, ordered: spec.PodManagementPolicy != appsv1.ParallelPodManagement}
	for ordinal := 0; len(j.wanted) < int(*spec.Replicas); ordinal++ {
		if !reserves(spec.Reserved(), ordinal) {
			j.wanted, j.end = append(j.wanted, ordinal), ordinal+1
		}
	}
	for _, pod := range w.Pods {
		if ordinal, ok := ordinalOf(w.set.Name, pod.Name); ok {
			j.pods[ordinal] = pod
		}
	}
	if spec.UpdateStrategy.RollingUpdate != nil {
		j.rolling = *spec.UpdateStrategy.RollingUpdate
	}
	if m := j.rolling.MaxUnavailable; m != nil {
		n, err := rollout.Count("maxUnavailable", *m, *spec.Replicas, rollout.RoundDown)
		if err != nil {
			w.T.Fatal(err)
		}
		j.max = max(1, int(n))
	}
	return j
}

func (j *judge) partition() int {
	if j.rolling.Partition == nil {
		return 0
	}
	return int(*j.rolling.Partition)
}

func (j *judge) ordinal(pod *corev1.Pod) int {
	n, _ := ordinalOf(j.set.Name, pod.Name)
	return n
}

func (j *judge) condemned(pod *corev1.Pod) bool { return !slices.Contains(j.wanted, j.ordinal(pod)) }

func (j *judge) own(pod *corev1.Pod) bool {
	return pod != nil && metav1.IsControlledBy(pod, j.set) && pod.Labels["app"] == "web"
}

// available tells whether a pod is there to stay and ready for long enough.
func (j *judge) available(pod *corev1.Pod) bool {
	return j.own(pod) && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning &&
		readiness.ReadyFor(pod, j.MinReadySeconds(), j.Now)
}

// ready tells whether a pod serves, for however short a time.
func (j *judge) ready(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && readiness.Ready(pod)
}

// serves tells whether a pod is available at a revision, and nothing takes it aside.
func (j *judge) serves(pod *corev1.Pod, revision string) bool {
	if !j.available(pod) || pod.Labels[podplan.RevisionLabel] != revision {
		return false
	}
	state := lifecycle.StateOf(pod)
	done, _, err := inplace.Complete(pod)
	return err == nil && done && (state == "" || state == lifecyclev1alpha1.StateNormal)
}

// checkAndApply checks a plan, applies it, and checks what has become of it.
func (w *setScenario) checkAndApply(plan *Plan) {
	j := w.judge()
	j.checkProblems(plan)
	moves(plan).CheckOnce(w.T)
	j.checkCreations(plan)
	j.checkScale(plan)
	if j.ordered {
		j.checkOrder(plan)
	}
	j.checkUpdate(plan)
	j.checkClaims(plan)
	w.checkOrderOfSnapshot(plan)
	w.apply(plan)
	j.checkClaimsKept(plan)
}

// fail ends the test, and shows the pods and what the plan does with them.
func (j *judge) fail(plan *Plan, format string, args ...any) {
	var out strings.Builder
	j.ShowPods(j.MinReadySeconds(), &out)
	j.show(plan, &out)
	j.T.Fatalf("%s\n%s", fmt.Sprintf(format, args...), &out)
}

// moves is what a plan does with pods.
func moves(plan *Plan) scenario.PodChanges {
	m := scenario.PodChanges{Create: plan.Create, Patch: plan.Patch, Waiting: plan.Waiting}
	for _, d := range plan.Delete {
		m.Delete = append(m.Delete, d.Pod)
	}
	return m
}

func (j *judge) checkProblems(plan *Plan) {
	for _, problem := range plan.Problems {
		inPlaceOnly := j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType
		lacking := slices.ContainsFunc(j.wanted, j.lacksClaims) && strings.Contains(problem.Err.Error(), "does not mount the claims")
		unfit := j.set.Spec.Template.Labels["app"] != "web" && strings.Contains(problem.Err.Error(), "spec.selector")
		if problem.Condition != failedCreate && !inPlaceOnly && !lacking && !unfit {
			j.fail(plan, "problem: %v", problem.Err)
		}
	}
}

func (w *setScenario) checkOrderOfSnapshot(plan *Plan) {
	s := w.snapshot()
	slices.Reverse(s.Pods)
	slices.Reverse(s.Revisions)
	if diff := cmp.Diff(moves(plan).Decisions(), moves(NewPlan(s)).Decisions()); diff != "" {
		w.T.Fatalf("another order of the same snapshot gives another plan: %s", diff)
	}
}

// checkCreations: pods are created for wanted ordinals that no pod has, and
// with OrderedReady one by one, when all lower ones are available.
func (j *judge) checkCreations(plan *Plan) {
	for _, c := range plan.Create {
		ordinal := j.ordinal(c.Pod)
		if j.condemned(c.Pod) || j.pods[ordinal] != nil {
			j.fail(plan, "creates pod %s, wanted are %v", c.Pod.Name, j.wanted)
		}
		for _, template := range j.set.Spec.VolumeClaimTemplates {
			if claim := j.Claim(claimName(template.Name, j.set.Name, ordinal)); claim != nil && (claim.DeletionTimestamp != nil || j.doomed(claim)) {
				j.fail(plan, "creates pod %s, whose claim %s is about to go", c.Pod.Name, claim.Name)
			}
		}
		for _, lower := range j.wanted {
			if j.ordered && lower < ordinal && !j.available(j.pods[lower]) {
				j.fail(plan, "OrderedReady: creates pod %s while pod %d is not available", c.Pod.Name, lower)
			}
		}
	}
}

// checkScale: only pods that are not wanted are scaled in, or those that a
// hook has taken out of service for good.
func (j *judge) checkScale(plan *Plan) {
	for _, d := range plan.Delete {
		if !j.own(d.Pod) && !(d.For == rollout.DeleteUnselected && metav1.IsControlledBy(d.Pod, j.set) && !podplan.HasRun(d.Pod)) {
			j.fail(plan, "deletes pod %s of another owner", d.Pod.Name)
		}
		if d.For == rollout.DeleteForScale && !j.condemned(d.Pod) && lifecycle.StateOf(d.Pod) != lifecyclev1alpha1.StatePreparingDelete {
			j.fail(plan, "scales in pod %s, wanted are %v", d.Pod.Name, j.wanted)
		}
	}
}

// checkOrder: with OrderedReady pods that are not wanted go one at a time from the highest. A pod that serves is taken out of
// service only when all the other ones are there.
func (j *judge) checkOrder(plan *Plan) {
	var taken []*corev1.Pod
	for _, pod := range j.disrupted(plan) {
		if j.ready(pod) && (j.condemned(pod) || lifecycle.StateOf(pod) != lifecyclev1alpha1.StatePreparingDelete) {
			taken = append(taken, pod)
		}
	}
	if len(taken) > 1 {
		j.fail(plan, "OrderedReady: takes pods %s out of service at once", j.Aliases(taken))
	}
	scaledIn := 0
	for _, d := range plan.Delete {
		if !j.condemned(d.Pod) {
			continue
		}
		if scaledIn++; scaledIn > 1 {
			j.fail(plan, "OrderedReady: scales in more than one pod")
		}
		for ordinal, pod := range j.pods {
			if j.own(pod) && j.condemned(pod) && (ordinal > j.ordinal(d.Pod) || pod.DeletionTimestamp != nil) {
				j.fail(plan, "OrderedReady: scales in pod %s before pod %s is gone", d.Pod.Name, pod.Name)
			}
		}
	}
	for _, pod := range taken {
		if lifecycle.StateOf(pod) == lifecyclev1alpha1.StatePreparingUpdate { // out of service already (LC-22)
			continue
		}
		for _, other := range j.wanted {
			if other != j.ordinal(pod) && !j.available(j.pods[other]) {
				j.fail(plan, "OrderedReady: takes pod %s out of service while pod %d is not available", pod.Name, other)
			}
		}
	}
}

// disrupted lists the pods that a plan takes out of service.
func (j *judge) disrupted(plan *Plan) (pods []*corev1.Pod) {
	for _, d := range plan.Delete {
		pods = append(pods, d.Pod)
	}
	for _, p := range plan.Patch {
		if p.Kind == rollout.PatchPrepare || p.Kind == rollout.PatchUpdateInPlace {
			pods = append(pods, p.Pod)
		}
	}
	return pods
}

// updated lists the pods that a plan updates to the update revision, or prepares for it.
func (j *judge) updated(plan *Plan) (pods []*corev1.Pod) {
	other := map[types.UID]bool{}
	for _, d := range plan.Delete {
		other[d.Pod.UID] = d.For != rollout.DeleteForUpdate
	}
	for _, pod := range j.disrupted(plan) {
		if !other[pod.UID] && !ended(pod) && !j.condemned(pod) && lifecycle.StateOf(pod) != lifecyclev1alpha1.StatePreparingDelete {
			pods = append(pods, pod)
		}
	}
	return pods
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// checkUpdate: the update touches nothing that it must not, and no more than
// maxUnavailable at once.
func (j *judge) checkUpdate(plan *Plan) {
	pods := j.updated(plan)
	if len(pods) == 0 {
		return
	}
	revision := plan.Revisions.Update.Name
	scaled := slices.ContainsFunc(plan.Delete, func(d rollout.PodDeletion) bool { return d.For == rollout.DeleteForScale })
	for _, pod := range pods {
		switch {
		case scaled:
			j.fail(plan, "updates pod %s and scales in", pod.Name)
		case j.set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
			j.fail(plan, "OnDelete: updates pod %s", pod.Name)
		case j.rolling.Paused:
			j.fail(plan, "paused: updates pod %s", pod.Name)
		case pod.Labels[podplan.RevisionLabel] == revision:
			j.fail(plan, "updates pod %s, which is at the update revision", pod.Name)
		case j.rolling.UnorderedUpdate == nil && j.ordinal(pod) < j.partition():
			j.fail(plan, "partition %d: updates pod %s", j.partition(), pod.Name)
		}
	}
	j.checkBudget(plan, pods)
	switch {
	case j.rolling.UnorderedUpdate != nil:
		j.checkUnordered(plan, pods)
	case !j.ordered:
		j.checkWalk(plan, pods)
	}
}

// checkBudget: the pods that serve and are taken, and all wanted ones that do not, are no more than
// maxUnavailable. (STS-18)
func (j *judge) checkBudget(plan *Plan, pods []*corev1.Pod) {
	taken, down := 0, 0
	for _, ordinal := range j.wanted {
		pod := j.pods[ordinal]
		state := ""
		if pod != nil {
			state = pod.Labels[lifecyclev1alpha1.StateLabel]
		}
		switch {
		case slices.Contains(pods, pod) && j.ready(pod) && (state == "" || state == string(lifecyclev1alpha1.StateNormal)):
			taken++
		case pod == nil || !j.serves(pod, pod.Labels[podplan.RevisionLabel]):
			down++
		}
	}
	if taken > 0 && taken+down > j.max {
		j.fail(plan, "maxUnavailable %d: takes %d pods that are ready, and %d of the wanted ones do not serve", j.max, taken, down)
	}
}

// checkWalk: pods that serve are taken from the highest ordinal down. (STS-17)
func (j *judge) checkWalk(plan *Plan, pods []*corev1.Pod) {
	revision := plan.Revisions.Update.Name
	last := len(j.wanted)
	for _, pod := range pods {
		if j.serves(pod, pod.Labels[podplan.RevisionLabel]) {
			last = min(last, slices.Index(j.wanted, j.ordinal(pod)))
		}
	}
	behind := 0
	for _, ordinal := range j.wanted[last:] {
		pod := j.pods[ordinal]
		if !j.serves(pod, revision) && (slices.Contains(pods, pod) || !j.stuck(pod)) {
			behind++
		}
	}
	if behind > j.max {
		j.fail(plan, "maxUnavailable %d: %d pods from the highest down to %d do not serve at the update revision after this reconcile", j.max, behind, j.wanted[last])
	}
}

// stuck tells whether a pod serves at another revision and has to stay there:
// InPlaceOnly forbids to recreate it, and it cannot go in place. Such a pod uses
// up no budget.
func (j *judge) stuck(pod *corev1.Pod) bool {
	return j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType && pod != nil &&
		j.serves(pod, pod.Labels[podplan.RevisionLabel]) && !j.updatesInPlace(pod)
}

// updatesInPlace tells whether nothing but images and metadata has changed since
// the revision of a pod.
func (j *judge) updatesInPlace(pod *corev1.Pod) bool {
	for _, r := range j.Revisions {
		var data struct {
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		if r.Name == pod.Labels[podplan.RevisionLabel] && json.Unmarshal(r.Data.Raw, &data) == nil {
			return equality.Semantic.DeepEqual(withoutImages(&data.Spec.Template.Spec), withoutImages(&j.set.Spec.Template.Spec))
		}
	}
	return false
}

// withoutImages is all that a spec says but its images.
func withoutImages(spec *corev1.PodSpec) *corev1.PodSpec {
	spec = spec.DeepCopy()
	for i := range spec.Containers {
		spec.Containers[i].Image = ""
	}
	return spec
}

// checkUnordered: partition pods stay unless there is but one revision to be at. (STS-17)
func (j *judge) checkUnordered(plan *Plan, pods []*corev1.Pod) {
	revision, moved := plan.Revisions.Update.Name, len(pods)
	for _, ordinal := range j.wanted {
		if pod := j.pods[ordinal]; pod == nil || pod.DeletionTimestamp != nil || pod.Labels[podplan.RevisionLabel] == revision {
			moved++
		}
	}
	if most := len(j.wanted) - j.partition(); moved > most && plan.Revisions.Current.Name != revision {
		j.fail(plan, "partition %d: %d pods are on their way to the update revision, %d may", j.partition(), moved, most)
	}
}
