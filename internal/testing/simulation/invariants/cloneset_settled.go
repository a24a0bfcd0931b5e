// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CloneSetSettled judges a CloneSet that has settled, whose past is not known.
func CloneSetSettled(s *State, pushed bool, features CloneSetFeatures) []Violation {
	return (*Past)(nil).CloneSetSettled(s, pushed, features)
}

// CloneSetSettled judges a CloneSet that has settled: hooks have released their pods, kubelets work, and what policies
// refuse is in the state. Nothing that can go on stands still. With pushed, users have pushed a template whose pods
// run, and nothing is refused: then all is as the spec wants it.
func (p *Past) CloneSetSettled(s *State, pushed bool, features CloneSetFeatures) []Violation {
	var v violations
	set, ok := s.Workload.(*v1alpha1.CloneSet)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	j := newCloneSetJudge(&v, &Write{Known: s, Truth: s, Observed: s}, set, features)
	j.past = p
	j.checkSaysWhy(s)
	if j.limits.broken || j.update == "" {
		return v
	}
	j.checkFacts(&set.Status, s)
	j.checkConsumers(&set.Status)
	j.checkDeadline()
	j.history().checkLeft(&v, s)
	if may, _ := j.mayAdvance(s); may && shortHash(set.Status.CurrentRevision) != j.update {
		v.add(Status, "currentRevision is %s, and all pods are at %s", set.Status.CurrentRevision, j.update)
	}
	if !s.refuses("delete", "persistentvolumeclaims") && !s.refuses("patch", "persistentvolumeclaims") {
		j.checkOwners(s)
	}
	surplus := s.refuses("delete", "pods") && j.counts.all > j.limits.replicas // which need not be updated
	if !set.Spec.UpdateStrategy.Paused && !s.refuses("patch", "pods") && !surplus {
		checkPrepared(&v, s, j.owned, &set.Status)
	}
	if features.InPlaceResize && !s.refuses("patch", "pods") {
		j.checkResized(s)
	}
	j.checkCreates(s)
	j.checkUpdates(s)
	if pushed {
		j.checkConverged(s)
	}
	return v
}

// checkSaysWhy: the status tells that the spec was read, or what keeps it from that.
func (j *cloneSetJudge) checkSaysWhy(s *State) {
	status := &j.set.Status
	switch {
	case j.limits.broken || s.refuses("create", "controllerrevisions") && j.update == "":
		update, scale := conditionOf(status, v1alpha1.CloneSetConditionFailedUpdate), conditionOf(status, v1alpha1.CloneSetConditionFailedScale)
		j.never(update == nil && scale == nil, Status, "the spec cannot be read, and no condition says so")
	case j.update == "":
		j.add(Settled, "there is no revision of the template")
	case status.ObservedGeneration != j.set.Generation && !j.misleads(status):
		j.add(Status, "observedGeneration is %d, the generation %d", status.ObservedGeneration, j.set.Generation)
	}
}

// checkCreates: missing pods are created, unless that is refused, too many are coming up already, or they would not
// match the selector. They may also be missing if a user took out a pod whose claim cannot be released, so that the
// name stays taken. Missing pods may wait for the claims of pods that terminate for ever, if HeldUp says so. (CS-12,
// CS-17, CS-18, CS-40)
func (j *cloneSetJudge) checkCreates(s *State) {
	l, c := &j.limits, &j.counts
	wanted := j.wanted(s)
	if !matches(j.set.Spec.Selector, j.set.Spec.Template.Labels) || j.claimStuck(s) {
		return
	}
	if stuck := j.terminating(s); c.total < wanted && c.total+len(stuck) >= wanted {
		says := conditionOf(&j.set.Status, heldUp)
		j.never(says == nil || !slices.ContainsFunc(stuck, func(name string) bool { return strings.Contains(says.message, name) }), Status,
			"%d of %d pods are there, %v terminate for ever, and HeldUp names none of them", c.total, wanted, stuck)
		return
	}
	refused := s.refuses("create", "pods") || s.refuses("create", "persistentvolumeclaims")
	j.never(c.total < wanted && c.unavailable < l.scaleUnavailable && !refused, Settled,
		"%d of %d pods are there, and no more are created; %d are not available, scaleStrategy.maxUnavailable %d",
		c.total, wanted, c.unavailable, l.scaleUnavailable)
}

// terminating are the pods on dead nodes that terminate and have claims, which new pods take over.
func (j *cloneSetJudge) terminating(s *State) (names []string) {
	for name, claim := range s.Claims {
		pod := s.Pods[j.set.Name+"-"+claim.Labels[v1alpha1.CloneSetInstanceIDLabel]]
		if controls(j.set.UID, claim) && claim.DeletionTimestamp == nil && pod != nil && pod.DeletionTimestamp != nil && mounts(pod, name) && onDeadNode(s, pod) && !slices.Contains(names, pod.Name) {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

// replaced is how many old pods marked for deletion there are whose replacement is there. (CS-10)
func (j *cloneSetJudge) replaced() int {
	n := j.countPods(j.Known, func(pod *corev1.Pod) bool { return j.old(pod) && j.isSpecified(pod) && !preparingDelete(pod) })
	return max(min(n, j.counts.all-j.limits.replicas), 0)
}

// claimStuck tells whether a claim of the CloneSet cannot be released. Claims may not be patched then, and a pod of
// another owner mounts it, or has the name of the pod to come for it.
func (j *cloneSetJudge) claimStuck(s *State) bool {
	if !s.refuses("patch", "persistentvolumeclaims") {
		return false
	}
	for name, claim := range s.Claims {
		next := j.set.Name + "-" + claim.Labels[v1alpha1.CloneSetInstanceIDLabel]
		strange := func(pod *corev1.Pod) bool { return !j.owned(pod) && (mounts(pod, name) || pod.Name == next) }
		if controls(j.set.UID, claim) && anyOf(maps.Values(s.Pods), strange) {
			return true
		}
	}
	return false
}

// wanted is how many pods there can be. Pods that the partition holds back are of the current revision, which the
// selector may not match any more after a change.
func (j *cloneSetJudge) wanted(s *State) int {
	current := templatesOf(s.Revisions)[shortHash(j.set.Status.CurrentRevision)]
	if current == nil || !matches(j.set.Spec.Selector, current.Labels) {
		return j.limits.replicas - j.limits.partition
	}
	return j.limits.replicas
}

// checkUpdates: a pod that no rule holds back is updated, whatever is refused besides. That is a pod that does not serve, while fewer
// such pods are at the update revision than may be unavailable. Or it is a pod that serves, while enough others do. Surplus pods whose
// deletion is refused need not be updated, nor pods marked for deletion that have been replaced. Pods that would be recreated need not
// be updated while creations are refused, or wait for a claim that cannot be released. That holds if as many are missing as may be
// unavailable. No pod is updated to a template that the selector does not match. With OnDelete no pod is updated. (CS-13, CS-22, CS-31,
// CS-37)
func (j *cloneSetJudge) checkUpdates(s *State) {
	l, c := &j.limits, &j.counts
	if j.onDelete() || j.set.Spec.UpdateStrategy.Paused || c.movingOld-j.replaced() <= l.partition || s.refuses("patch", "pods") || // its state is written first
		!matches(j.set.Spec.Selector, j.set.Spec.Template.Labels) {
		return
	}
	if s.refuses("delete", "pods") && c.movingOld-l.partition <= c.all-l.replicas {
		return
	}
	broken := j.countPods(s, func(pod *corev1.Pod) bool { return !j.old(pod) && !j.available(pod) }) // at the update revision
	budget := l.unavailable + c.all - l.replicas
	refused := s.refuses("create", "pods") || s.refuses("create", "persistentvolumeclaims") || j.claimStuck(s)
	for _, pod := range s.Pods {
		recreated := !j.inPlace() || !j.updatesInPlace(pod, s)
		if !j.mayUpdate(pod, s) || recreated && s.refuses("delete", "pods") {
			continue
		}
		if recreated && refused && budget <= 0 { // it is not known when it could be created again: others are missing already
			continue
		}
		if j.available(pod) && broken < budget && c.all-c.available < budget || !j.available(pod) && broken < max(l.unavailable, 1) {
			j.add(Settled, "pod %s stays at an old revision: %d are old, partition %d; %d of %d are available, %d broken ones are updated, maxUnavailable %d, replicas %d",
				pod.Name, c.movingOld, l.partition, c.available, c.all, broken, l.unavailable, l.replicas)
			return
		}
	}
}

// checkConverged: there are as many pods as wanted, as many of them updated as the partition allows, and all are
// available. An old pod is excused if its image is bad and the partition holds it back. Pods that
// scaleStrategy.maxUnavailable has wait for it may be missing then, and pods marked for deletion stay beside their
// replacements. An old pod is also excused if its claim is lost, or if its record of updates cannot be read, as a
// condition says. A pod that InPlaceOnly cannot update excuses the pods that wait for it.
func (j *cloneSetJudge) checkConverged(s *State) {
	l, c := &j.limits, &j.counts
	if j.inPlaceOnly() && j.anyOld(s, func(pod *corev1.Pod) bool { return !j.updatesInPlace(pod, s) }) {
		return
	}
	wanted := j.wanted(s)
	few := c.all < wanted || c.updated < l.replicas-l.partition && !j.onDelete()
	bad := j.anyOld(s, badImage) // the partition holds a pod back whose image never runs
	j.never(few && !(bad && c.unavailable >= l.scaleUnavailable) || c.all > l.replicas && !(bad && c.all-j.replaced() <= l.replicas), Settled,
		"%d pods, %d updated; replicas %d, partition %d", c.all, c.updated, l.replicas, l.partition)
	spoilt := j.anyOld(s, unreadable)
	out := j.anyOld(s, func(pod *corev1.Pod) bool { return unreadable(pod) && !j.available(pod) && !badImage(pod) })
	excused := false // a pod that will not serve, and is left so, or one that serves on a full node (IP-38)
	for _, pod := range s.Pods {
		switch {
		case !j.owned(pod) || !active(pod):
		case j.isSpecified(pod) && !preparingDelete(pod) && wanted < l.replicas && ready(pod): // its replacement cannot come (CS-17)
		case j.isSpecified(pod) && !preparingDelete(pod) && ready(pod) && bad && c.all-c.available >= l.unavailable+c.all-l.replicas: // CS-22
		case j.isSpecified(pod) || preparingDelete(pod):
			j.add(Settled, "pod %s is to be deleted for good", pod.Name)
		case !j.available(pod) && !(j.old(pod) && (badImage(pod) || unreadable(pod) || j.lostClaim(pod, s))):
			j.add(Settled, "pod %s is not available", pod.Name)
		case !j.available(pod) || resizeDeferred(pod):
			excused = excused || j.heldUpBy(pod)
		}
	}
	checkNoProblem(j.violations, &j.set.Status, func(c told) bool {
		return c.of == string(v1alpha1.CloneSetConditionProgressing) || // it is judged with the numbers
			c.of == heldUp && excused || // it names such a pod
			c.of == string(v1alpha1.CloneSetConditionFailedScale) && wanted < l.replicas || // it says why some are missing
			c.of == string(v1alpha1.CloneSetConditionFailedUpdate) && spoilt
	})
	j.never(out && conditionOf(&j.set.Status, v1alpha1.CloneSetConditionFailedUpdate) == nil, Status,
		"a pod that the partition holds back is out of service since its record cannot be read, and no condition says so")
}

func (j *cloneSetJudge) anyOld(s *State, is func(*corev1.Pod) bool) bool {
	return j.countPods(s, func(pod *corev1.Pod) bool { return j.old(pod) && is(pod) }) > 0
}

// lostClaim tells whether a pod is not scheduled since a claim that it mounts is gone,
// and no template is left to create it from.
func (j *cloneSetJudge) lostClaim(pod *corev1.Pod, s *State) bool {
	id := strings.TrimPrefix(pod.Name, j.set.Name)
	return pod.Spec.NodeName == "" && slices.ContainsFunc(claimsIn(pod), func(claim string) bool {
		isOf := func(t corev1.PersistentVolumeClaim) bool { return t.Name+"-"+j.set.Name+id == claim }
		return s.Claims[claim] == nil && !slices.ContainsFunc(j.set.Spec.VolumeClaimTemplates, isOf)
	})
}

func badImage(pod *corev1.Pod) bool {
	return first(pod.Spec.Containers, func(c *corev1.Container) bool { return strings.Contains(c.Image, "bad") }) != nil
}

// heldUpBy tells whether the condition HeldUp begins with the name of a pod.
func (j *cloneSetJudge) heldUpBy(pod *corev1.Pod) bool {
	rest, found := strings.CutPrefix(ptr.Deref(conditionOf(&j.set.Status, heldUp), told{}).message, "pod "+pod.Name)
	return found && strings.IndexAny(rest, ": ") == 0
}
