// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func (j *statefulSetJudge) checkPod() {
	before, after := j.pods()
	known := j.knownPod()
	if j.broken {
		j.never(before == nil || j.Verb == "delete" || updated(before, after), Spec,
			"%s of pod %s, though the spec cannot be read", j.Verb, j.name())
		return
	}
	switch {
	case before == nil:
		j.checkCreation(after)
	case known == nil || !j.owned(known): // the ownership is judged
	case j.Verb == "delete":
		j.checkDeletion(known)
	case updated(before, after):
		j.checkUpdate(known, "updates")
		if p := j.rolling; p == nil || p.PodUpdatePolicy != v1beta1.InPlaceIfPossiblePodUpdateStrategyType && p.PodUpdatePolicy != v1beta1.InPlaceOnlyPodUpdateStrategyType {
			j.add(Needless, "updates pod %s in place against the policy", known.Name)
		}
	case stateOf(before) != stateOf(after) && (preparingDelete(after) || preparesUpdate(after)):
		j.checkPreparation(known, after)
	case serves(known) && serves(before) && !serves(after):
		j.checkUpdate(known, "takes out of service")
	}
}

// checkCreation: a pod is created when its turn has come. With OrderedReady that is when all lower pods are available,
// otherwise while few of them are not. The pod is at the revision that the partition says. It never gets a claim that
// is about to go. (STS-3, STS-5, STS-8, STS-9)
func (j *statefulSetJudge) checkCreation(pod *corev1.Pod) {
	for _, lower := range j.lower(pod) {
		j.never(j.ordered && !j.orderly(j.at(lower)), Order, "creates pod %s, pod %d is not available", pod.Name, lower)
	}
	j.checkLower(pod, "creates")
	j.checkFirstState(pod)
	j.checkRevision(pod, j.ordinalOf(pod.Name))
	j.checkClaimsOf(pod)
}

// lower are the wanted ordinals below that of a pod.
func (j *statefulSetJudge) lower(pod *corev1.Pod) []int {
	return among(slices.Values(j.wanted), func(ordinal int) bool { return ordinal < j.ordinalOf(pod.Name) })
}

// checkLower: few lower pods are not available. What the update of the same reconcile takes comes later. (STS-9)
func (j *statefulSetJudge) checkLower(pod *corev1.Pod, verb string) {
	down := len(among(slices.Values(j.lower(pod)), func(lower int) bool { return !j.available(j.observedAt(lower)) }))
	j.never(down >= j.scaleUnavailable, ScaleRate,
		"%s pod %s, %d of lower ordinals are not available, scaleStrategy.maxUnavailable is %d", verb, pod.Name, down, j.scaleUnavailable)
}

// checkFirstState: a new pod is Normal, or waits for its preNormal hook. (STS-5, STS-36)
func (j *statefulSetJudge) checkFirstState(pod *corev1.Pod) {
	want := lifecyclev1alpha1.StateNormal
	if l := j.set.Spec.Lifecycle; l != nil && j.features.PreNormal && !met(l.PreNormal, pod) {
		want = lifecyclev1alpha1.StatePreparingNormal
	}
	j.never(stateOf(pod) != want, Hooks, "creates pod %s in the state %q, want %q", pod.Name, stateOf(pod), want)
}

// checkDeletion: a pod is deleted if it is left over, has ended, is in the
// way of the update, or was to be deleted before.
func (j *statefulSetJudge) checkDeletion(pod *corev1.Pod) {
	switch {
	case !j.owned(pod) && newborn(pod, j.Known.Now): // something changes the labels of new pods
		return
	case pod.DeletionTimestamp != nil:
		j.add(Needless, "deletes pod %s, which is being deleted", pod.Name)
	case !j.isWanted(pod.Name):
		j.checkScaleIn(pod)
		j.checkTurn(pod)
		j.checkClaimsGo(pod)
		return
	case ended(pod):
		j.checkReplacement(pod)
	case preparingDelete(pod):
		j.checkHeld(pod)
	case j.marked(pod):
		j.checkBudget(pod, "deletes, since it is marked,")
	default:
		j.checkUpdate(pod, "deletes")
		j.never(j.rolling != nil && j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType, Needless,
			"deletes pod %s, podUpdatePolicy InPlaceOnly", pod.Name)
	}
	j.checkClaimsGo(pod)
}

// checkReplacement: a pod that has ended is replaced when a new one in its place
// would be created. (STS-4, STS-8, STS-9, STS-36)
func (j *statefulSetJudge) checkReplacement(pod *corev1.Pod) {
	halting := len(among(slices.Values(j.lower(pod)), func(lower int) bool { return !j.orderly(j.observedAt(lower)) }))
	j.never(j.ordered && halting > 0, Order, "replaces pod %s, %d of lower ordinals are not available", pod.Name, halting)
	j.checkLower(pod, "replaces")
}

// checkHeld: a pod that was prepared for its deletion, and whose place is wanted, may serve as well as before. When its
// hook releases it, order, pause and budget hold for it as for a pod that the update deletes.
func (j *statefulSetJudge) checkHeld(pod *corev1.Pod) {
	if !ready(pod) {
		return
	}
	j.never(j.rolling != nil && j.rolling.Paused, Paused,
		"deletes pod %s, which its hook released, rollingUpdate.paused", pod.Name)
	released := func(other *corev1.Pod) bool { return preparingDelete(other) && j.orderly(other) } // they go one after the other
	down := 1 + j.countOut(pod, released)
	j.never(down > j.unavailable && !j.features.UpdateUnavailable, Availability, // (STS-34: it is out of service already)
		"deletes pod %s, which its hook released, %d of the wanted pods are down then, maxUnavailable is %d", pod.Name, down, j.unavailable)
	j.checkTurn(pod)
}

// checkPreparation judges a pod that is taken aside for its hook.
func (j *statefulSetJudge) checkPreparation(known, after *corev1.Pod) {
	switch {
	case preparingDelete(after) && !j.isWanted(known.Name):
		j.checkScaleIn(known)
		j.checkTurn(known)
	case preparingDelete(after) && ended(known):
	case preparingDelete(after) && j.marked(known):
		j.checkBudget(known, "prepares, since it is marked,")
	default:
		j.checkUpdate(known, "prepares")
	}
}

// checkScaleIn: with OrderedReady pods that are left over go when all wanted pods are available. They go one at a time,
// the highest first. An unavailable pod goes only if it is the lowest that is not ready, or if it and the lower ones
// have ended. If a pod's own hook keeps it from being available, that does not count. Pods that the same reconcile has
// adopted have their turn in the next. (STS-8, STS-11)
func (j *statefulSetJudge) checkScaleIn(pod *corev1.Pod) {
	if !j.ordered {
		return
	}
	halts := !j.available(pod) && !preparingDelete(pod)
	for _, ordinal := range j.wanted {
		j.never(!j.orderly(j.at(ordinal)), Order, "deletes pod %s, pod %d is not available", pod.Name, ordinal)
	}
	j.never(halts && ready(pod), Order, "deletes pod %s, which is not available yet", pod.Name)
	for _, other := range j.Known.Pods {
		if !j.owned(other) || !j.owned(j.Observed.Pods[other.Name]) {
			continue
		}
		j.never(halts && j.ordinalOf(other.Name) < j.ordinalOf(pod.Name) && !ready(other) && !(ended(pod) && ended(other)), Order,
			"deletes pod %s, which is not available, and the lower pod %s is not ready", pod.Name, other.Name)
		if other.Name == pod.Name || j.isWanted(other.Name) || j.ordinalOf(other.Name) < 0 {
			continue
		}
		j.never(j.ordinalOf(other.Name) > j.ordinalOf(pod.Name) || other.DeletionTimestamp != nil, Order,
			"deletes pod %s before pod %s is gone", pod.Name, other.Name)
	}
}

// checkTurn: with OrderedReady a pod that is ready is taken out of service only
// when all the other wanted ones are available, which it tells.
func (j *statefulSetJudge) checkTurn(pod *corev1.Pod) bool {
	if !j.ordered || !ready(pod) {
		return true
	}
	inTurn := true
	for _, other := range j.wanted {
		if other != j.ordinalOf(pod.Name) && !j.orderly(j.at(other)) {
			j.add(Order, "takes pod %s out of service, pod %d is not available", pod.Name, other)
			inTurn = false
		}
	}
	return inTurn
}

// checkUpdate: a pod is updated while the update goes on, if the partition does not hold it back, and ready ones within
// maxUnavailable. One that was prepared for it counts as out of service since, and was judged then. (STS-14 to STS-18,
// STS-22, LC-22)
func (j *statefulSetJudge) checkUpdate(pod *corev1.Pod, verb string) {
	if j.wrong(shortHash(pod.Labels[revisionLabel]) == j.update, Needless, "%s pod %s, which is at the update revision", verb, pod.Name) {
		return
	}
	walks := true
	switch {
	case j.rolling == nil:
		j.add(Needless, "%s pod %s, updateStrategy.type OnDelete", verb, pod.Name)
	case j.rolling.Paused:
		j.add(Paused, "%s pod %s, rollingUpdate.paused", verb, pod.Name)
	case !matches(j.set.Spec.Selector, j.set.Spec.Template.Labels):
		j.add(Ownership, "%s pod %s for a template that the selector does not match", verb, pod.Name)
	case !j.isWanted(pod.Name):
		j.add(Needless, "%s pod %s for the update, which is left over", verb, pod.Name)
	case j.rolling.UnorderedUpdate != nil:
		j.checkUnordered(pod, verb)
	default:
		j.never(j.below(j.ordinalOf(pod.Name)), Partition, "%s pod %s, partition %d", verb, pod.Name, j.partition)
		walks = j.checkWalk(pod, verb)
	}
	inTurn := preparesUpdate(pod) || j.checkTurn(pod)
	if j.rolling != nil && walks && inTurn { // otherwise the reason is told already
		j.checkBudget(pod, verb)
	}
}

// older tells whether a revision was created before another: then to go to it is to go back.
func (j *statefulSetJudge) older(revision, than string) bool {
	a, b := j.Known.Revisions[j.set.Name+"-"+revision], j.Known.Revisions[j.set.Name+"-"+than]
	return a != nil && b != nil && a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// checkContained: beyond maxUnavailable no pod goes from the current revision to
// one that works nowhere, while a pod at that is not available. down is how many
// pods do not serve then. The other way, back from such a revision, is open. The update of a pod that was prepared for
// it is open as well: it was judged when it began. One that the same reconcile brings there is as good as not there:
// its requests are in no order.
func (j *statefulSetJudge) checkContained(pod *corev1.Pod, down int, verb string) {
	current := j.observedCurrent()
	if j.features.UpdateUnavailable || down <= j.unavailable || preparesUpdate(pod) || j.past == nil || j.past.hasWorked(j.update) || shortHash(pod.Labels[revisionLabel]) != current || j.older(j.update, current) {
		return
	}
	for _, ordinal := range j.wanted {
		other := j.at(ordinal)
		if j.owned(other) && other.DeletionTimestamp == nil && shortHash(other.Labels[revisionLabel]) == j.update && !j.available(other) && !j.wasPrepared(other) {
			j.add(Contained, "%s pod %s, which comes to revision %s, of which pod %s is not available and no pod ever was ready", verb, pod.Name, j.update, other.Name)
			return
		}
	}
}

func (j *statefulSetJudge) wasPrepared(pod *corev1.Pod) bool {
	was := j.Observed.Pods[pod.Name]
	return was != nil && was.UID == pod.UID && preparesUpdate(was)
}

// checkBudget: a pod that serves is taken only while fewer than maxUnavailable of the other wanted pods do not serve.
// Their order and their reasons do not matter. One that is out of service already takes nothing more. (STS-18)
func (j *statefulSetJudge) checkBudget(pod *corev1.Pod, verb string) {
	if !ready(pod) || !serves(pod) || j.features.UpdateUnavailable && !j.inService(pod) {
		return
	}
	down := 1 + j.countOut(pod, nil)
	j.never(down > j.unavailable, Availability,
		"%s pod %s, %d of the wanted pods do not serve then, maxUnavailable is %d", verb, pod.Name, down, j.unavailable)
}

// countOut counts the wanted pods beside one that are out of service, but some.
func (j *statefulSetJudge) countOut(beside *corev1.Pod, but func(*corev1.Pod) bool) int {
	return len(among(slices.Values(j.wanted), func(ordinal int) bool {
		pod := j.at(ordinal)
		return ordinal != j.ordinalOf(beside.Name) && (!j.inService(pod) || j.resized(pod)) && (but == nil || pod == nil || !but(pod))
	}))
}

// inService tells whether users may count on a pod, whatever its revision. It is available and runs what its spec says,
// and nothing takes it aside.
func (j *statefulSetJudge) inService(pod *corev1.Pod) bool {
	return j.available(pod) && serves(pod) && runs(pod)
}

// checkWalk: pods that serve are taken from the highest ordinal down, which it tells. (STS-17)
func (j *statefulSetJudge) checkWalk(pod *corev1.Pod, verb string) bool {
	behind, down := 1, 1
	for _, ordinal := range j.wanted {
		other := j.at(ordinal)
		if ordinal <= j.ordinalOf(pod.Name) || j.waitsForLower(ordinal) || j.servesUpdated(other) || j.stuck(other) || j.inService(other) && j.cannotGrow(other) {
			continue
		}
		behind++
		count(&down, !j.inService(other))
	}
	j.checkContained(pod, down, verb)
	if j.inService(pod) && behind > j.unavailable {
		j.add(Availability, "%s pod %s, %d pods from the highest down to it do not serve at the update revision then, maxUnavailable is %d", verb, pod.Name, behind, j.unavailable)
		return false
	}
	return true
}

// stuck tells whether a pod serves at another revision and has to stay there: InPlaceOnly forbids to recreate it, and
// it cannot go in place. Such a pod uses up no budget.
func (j *statefulSetJudge) stuck(pod *corev1.Pod) bool {
	return j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType && j.available(pod) && serves(pod) && !j.updatesInPlace(pod)
}

// updatesInPlace tells whether a pod can go to the update revision in place. Only images and metadata of its template
// change, and the record of its last update can be read.
func (j *statefulSetJudge) updatesInPlace(pod *corev1.Pod) bool {
	if unreadable(pod) {
		return false
	}
	from := templatesOf(j.Known.Revisions)[shortHash(pod.Labels[revisionLabel])]
	return from != nil && sameButImages(&from.Spec, &j.set.Spec.Template.Spec)
}

// waitsForLower tells whether scaleStrategy.maxUnavailable does not let a pod be
// created or replaced: as many lower pods are not available. (STS-9)
func (j *statefulSetJudge) waitsForLower(ordinal int) bool {
	pod, lower := j.at(ordinal), among(slices.Values(j.wanted), func(o int) bool { return o < ordinal && !j.available(j.at(o)) })
	return (pod == nil || ended(pod)) && len(lower) >= j.scaleUnavailable
}

// checkUnordered: so many pods stay as the partition says, unless there is but one revision to be at. (STS-17)
func (j *statefulSetJudge) checkUnordered(pod *corev1.Pod, verb string) {
	gone, down := 1, 1
	for _, ordinal := range without(j.wanted, j.ordinalOf(pod.Name)) {
		other, observed := j.at(ordinal), j.observedAt(ordinal)
		old := func(p *corev1.Pod) bool {
			return p != nil && p.DeletionTimestamp == nil && shortHash(p.Labels[revisionLabel]) != j.update
		}
		if old(other) || other == nil && old(observed) && ended(observed) { // it is recreated since it has ended, and updated later
			continue
		}
		gone++
		count(&down, !j.servesUpdated(other) && !j.waitsForLower(ordinal))
	}
	j.checkContained(pod, down, verb)
	current := j.observedCurrent()
	j.never(gone > len(j.wanted)-j.partition && current != "" && current != j.update, Partition,
		"%s pod %s, %d pods are on their way to the update revision then, partition %d", verb, pod.Name, gone, j.partition)
}
