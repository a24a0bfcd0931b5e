package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// checkPod judges a write of a pod.
func (j *statefulSetJudge) checkPod() {
	before, after := j.pods()
	known := j.knownPod()
	if j.broken {
		if before == nil || j.Verb == "delete" || moved(before, after) {
			j.add(Spec, "%s of pod %s, though nobody can tell what the spec says", j.Verb, j.name())
		}
		return
	}
	switch {
	case before == nil:
		j.checkCreation(after)
	case known == nil || !j.owned(known): // the ownership is judged
	case j.Verb == "delete":
		j.checkDeletion(known)
	case moved(before, after):
		j.checkUpdate(known, "updates")
		if p := j.rolling; p == nil || p.PodUpdatePolicy != v1beta1.InPlaceIfPossiblePodUpdateStrategyType && p.PodUpdatePolicy != v1beta1.InPlaceOnlyPodUpdateStrategyType {
			j.add(Needless, "updates pod %s in place against the policy", known.Name)
		}
	case stateOf(before) != stateOf(after) && (held(after) || preparesUpdate(after)):
		j.checkPreparation(known, after)
	case serves(known) && serves(before) && !serves(after):
		j.checkUpdate(known, "takes out of service")
	}
}

// checkCreation: a pod is created when its turn has come: with OrderedReady when
// all lower ones are available, else while few of them are not; at the revision
// that the partition says; and never with a claim that is about to go. (rules 3, 5, 8, 9)
func (j *statefulSetJudge) checkCreation(pod *corev1.Pod) {
	ordinal, down := j.ordinalOf(pod.Name), 0
	for _, lower := range j.wanted {
		if lower >= ordinal {
			break
		}
		if j.ordered && !j.available(j.at(lower)) {
			j.add(Order, "creates pod %s, pod %d is not available", pod.Name, lower)
		}
		if !j.available(j.observedAt(lower)) { // what the update of the same pass takes comes later
			down++
		}
	}
	if down >= j.scaleUnavailable {
		j.add(ScaleRate, "creates pod %s, %d of lower ordinals are not available, scaleStrategy.maxUnavailable is %d", pod.Name, down, j.scaleUnavailable)
	}
	j.checkRevision(pod, ordinal)
	j.checkClaimsOf(pod)
}

// checkRevision: a new pod is of the current revision where the partition holds
// it back, and else of the update revision. (rule 3)
func (j *statefulSetJudge) checkRevision(pod *corev1.Pod, ordinal int) {
	current := shortHash(j.set.Status.CurrentRevision)
	is := shortHash(pod.Labels[revisionLabel])
	if current == "" || current == j.update || j.rolling != nil && j.rolling.UnorderedUpdate != nil {
		return
	}
	back := j.rolling != nil && ordinal < j.partition
	if back && is == j.update || !back && is != j.update {
		j.add(Partition, "creates pod %s at revision %s, partition %d, current %s, update %s", pod.Name, is, j.partition, current, j.update)
	}
}

// checkDeletion: a pod is deleted where it is left over, has ended, is in the
// way of the update, or was to be deleted before.
func (j *statefulSetJudge) checkDeletion(pod *corev1.Pod) {
	switch {
	case pod.DeletionTimestamp != nil:
		j.add(Needless, "deletes pod %s, which is being deleted", pod.Name)
	case !j.isWanted(pod.Name):
		j.checkScaleIn(pod)
		j.checkTurn(pod)
	case ended(pod), held(pod):
	default:
		j.checkUpdate(pod, "deletes")
		if j.rolling != nil && j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType {
			j.add(Needless, "deletes pod %s, podUpdatePolicy InPlaceOnly", pod.Name)
		}
	}
}

// checkPreparation judges a pod that is taken aside for its hook.
func (j *statefulSetJudge) checkPreparation(known, after *corev1.Pod) {
	switch {
	case held(after) && !j.isWanted(known.Name):
		j.checkTurn(known)
	case held(after) && ended(known):
	default:
		j.checkUpdate(known, "prepares")
	}
}

// checkScaleIn: with OrderedReady pods that are left over go one at a time, the
// highest first. (rule 11)
func (j *statefulSetJudge) checkScaleIn(pod *corev1.Pod) {
	if !j.ordered {
		return
	}
	for _, other := range j.Known.Pods {
		if other.Name == pod.Name || !j.owned(other) || j.isWanted(other.Name) || j.ordinalOf(other.Name) < 0 {
			continue
		}
		if j.ordinalOf(other.Name) > j.ordinalOf(pod.Name) || other.DeletionTimestamp != nil {
			j.add(Order, "deletes pod %s before pod %s is gone", pod.Name, other.Name)
		}
	}
}

// checkTurn: with OrderedReady a pod that is ready is taken out of service only
// when all the other wanted ones are available.
func (j *statefulSetJudge) checkTurn(pod *corev1.Pod) {
	if !j.ordered || !ready(pod) {
		return
	}
	for _, other := range j.wanted {
		if other != j.ordinalOf(pod.Name) && !j.available(j.at(other)) {
			j.add(Order, "takes pod %s out of service, pod %d is not available", pod.Name, other)
		}
	}
}

// checkUpdate: a pod moves while the update goes on, where the partition does
// not hold it back, and ready ones within maxUnavailable. (rules 14 to 18 and 22)
func (j *statefulSetJudge) checkUpdate(pod *corev1.Pod, verb string) {
	if shortHash(pod.Labels[revisionLabel]) == j.update {
		j.add(Needless, "%s pod %s, which is at the update revision", verb, pod.Name)
		return
	}
	switch {
	case j.rolling == nil:
		j.add(Needless, "%s pod %s, updateStrategy.type OnDelete", verb, pod.Name)
	case j.rolling.Paused:
		j.add(Paused, "%s pod %s, rollingUpdate.paused", verb, pod.Name)
	case !j.isWanted(pod.Name):
		j.add(Needless, "%s pod %s for the update, which is left over", verb, pod.Name)
	case j.rolling.UnorderedUpdate != nil:
		j.checkUnordered(pod, verb)
	default:
		if j.ordinalOf(pod.Name) < j.partition {
			j.add(Partition, "%s pod %s, partition %d", verb, pod.Name, j.partition)
		}
		j.checkWalk(pod, verb)
	}
	j.checkTurn(pod)
}

// checkWalk: from the highest ordinal down to a ready pod that moves, no more
// than maxUnavailable do not serve. (rule 18)
func (j *statefulSetJudge) checkWalk(pod *corev1.Pod, verb string) {
	if !ready(pod) {
		return
	}
	down := 0
	for _, ordinal := range j.wanted {
		if ordinal >= j.ordinalOf(pod.Name) && !j.heldBack(ordinal) && !j.servesUpdated(j.at(ordinal)) && !j.maybeStuck(j.at(ordinal)) {
			down++
		}
	}
	if down > j.unavailable {
		j.add(Availability, "%s pod %s, %d pods from the highest down to it do not serve then, maxUnavailable is %d", verb, pod.Name, down, j.unavailable)
	}
}

// maybeStuck tells whether a pod serves at another revision, and may be one that
// has to stay there: InPlaceOnly forbids to recreate it. Such a pod uses up no budget.
func (j *statefulSetJudge) maybeStuck(pod *corev1.Pod) bool {
	return j.rolling.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType && j.available(pod) && serves(pod)
}

// heldBack tells whether scaleStrategy.maxUnavailable does not let a pod be
// created or replaced: as many lower pods are not available. (rule 9)
func (j *statefulSetJudge) heldBack(ordinal int) bool {
	if pod := j.at(ordinal); pod != nil && !ended(pod) {
		return false
	}
	lower := 0
	for _, o := range j.wanted {
		if o < ordinal && !j.available(j.at(o)) {
			lower++
		}
	}
	return lower >= j.scaleUnavailable
}

// checkUnordered: of the pods that have moved and this one, no more than
// maxUnavailable do not serve if it is ready, and so many stay as the partition
// says, unless there is but one revision to be at. (rules 17 and 18)
func (j *statefulSetJudge) checkUnordered(pod *corev1.Pod, verb string) {
	gone, down := 1, 1
	for _, ordinal := range slices.DeleteFunc(slices.Clone(j.wanted), func(o int) bool { return o == j.ordinalOf(pod.Name) }) {
		other, observed := j.at(ordinal), j.observedAt(ordinal)
		old := func(p *corev1.Pod) bool {
			return p != nil && p.DeletionTimestamp == nil && shortHash(p.Labels[revisionLabel]) != j.update
		}
		if old(other) || other == nil && old(observed) && ended(observed) { // it is recreated since it has ended, and moves later
			continue
		}
		gone++
		if !j.servesUpdated(other) && !j.heldBack(ordinal) {
			down++
		}
	}
	current := shortHash(j.set.Status.CurrentRevision)
	if most := len(j.wanted) - j.partition; gone > most && current != "" && current != j.update {
		j.add(Partition, "%s pod %s, %d pods are on their way to the update revision then, partition %d", verb, pod.Name, gone, j.partition)
	}
	if ready(pod) && down > j.unavailable {
		j.add(Availability, "%s pod %s, %d pods of those that move do not serve then, maxUnavailable is %d", verb, pod.Name, down, j.unavailable)
	}
}
