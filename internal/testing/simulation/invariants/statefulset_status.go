// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// preparesUpdate tells whether a pod waits for its hook before an update.
func preparesUpdate(pod *corev1.Pod) bool {
	return stateOf(pod) == lifecyclev1alpha1.StatePreparingUpdate
}

// checkStatus: the counters are those of the pods that the author saw, if
// the write says anything of them; the spec is the user's.
func (j *statefulSetJudge) checkStatus() {
	before, after, seen, judged := statusWrite[*v1beta1.StatefulSet](j.violations, j.Write)
	if !judged {
		return
	}
	told := consumersOf(&after.Status)
	if seen.DeletionTimestamp == nil {
		told.check(j.violations, after.Status.ObservedGeneration)
	}
	if sameFacts(before.Status, after.Status) {
		return
	}
	j.compareGeneration(after.Status.ObservedGeneration, seen.Generation)
	if !j.broken {
		j.checkCounters(&after.Status, j.Observed)
		if seen.DeletionTimestamp == nil { // otherwise no revision is written (STS-26)
			j.checkCurrent(&after.Status)
			j.checkConsumers(&after.Status, told, j.Observed)
		}
	}
}

// checkConsumers: who goes by conditions waits as long as the pods of a state are not those of the spec. (STS-S3)
func (j *statefulSetJudge) checkConsumers(status *v1beta1.StatefulSetStatus, told consumers, of *State) {
	if j.update != "" && shortHash(status.UpdateRevision) == j.update { // otherwise nothing was counted
		told.checkReached(j.violations, j.reached(of, shortHash(status.CurrentRevision)))
	}
}

// reached tells whether the pods of a state are those of the spec. There is an available one for each wanted ordinal, and no
// other. No more pods are of another revision than partition and type hold back.
func (j *statefulSetJudge) reached(of *State, current string) bool {
	unordered := j.rolling != nil && j.rolling.UnorderedUpdate != nil
	old, held := 0, 0
	for _, ordinal := range j.wanted {
		pod := of.Pods[j.podName(ordinal)]
		if !j.owned(pod) || pod.DeletionTimestamp != nil || !j.readyAt(pod, of) {
			return false
		}
		count(&old, shortHash(pod.Labels[revisionLabel]) != j.update && (unordered || !j.below(ordinal)))
	}
	if anyOf(maps.Values(of.Pods), func(pod *corev1.Pod) bool { return j.owned(pod) && j.ordinalOf(pod.Name) >= 0 && !j.isWanted(pod.Name) }) {
		return false
	}
	if unordered && current != j.update {
		held = j.partition
	}
	return j.rolling == nil || old <= held
}

func (j *statefulSetJudge) checkCounters(status *v1beta1.StatefulSetStatus, of *State) {
	var want v1beta1.StatefulSetStatus
	for _, pod := range among(slices.Values(j.members(of)), j.owned) {
		is, stays := shortHash(pod.Labels[revisionLabel]), pod.DeletionTimestamp == nil
		isUpdated, isReady, isAvailable := is == shortHash(status.UpdateRevision), ready(pod), j.readyAt(pod, of)
		want.Replicas++
		count(&want.ReadyReplicas, isReady)
		count(&want.AvailableReplicas, isAvailable)
		count(&want.CurrentReplicas, stays && is == shortHash(status.CurrentRevision))
		count(&want.UpdatedReplicas, stays && isUpdated)
		count(&want.UpdatedReadyReplicas, isUpdated && isReady)
		count(&want.UpdatedAvailableReplicas, isUpdated && isAvailable)
	}
	j.compare(status, &want)
	j.checkVolumeCounts(status, of)
}

// observedCurrent is the revision that pods come from, as the author observed it. The status named it, which is judged
// when it is written. It is empty if the status named no revision that exists.
func (j *statefulSetJudge) observedCurrent() string {
	seen, _ := j.Observed.Workload.(*v1beta1.StatefulSet)
	if seen == nil || seen.UID != j.set.UID || j.Observed.Revisions[seen.Status.CurrentRevision] == nil {
		return ""
	}
	return shortHash(seen.Status.CurrentRevision)
}

// members are the pods with the names of a set's, whatever their owner.
func (j *statefulSetJudge) members(s *State) []*corev1.Pod {
	return among(maps.Values(s.Pods), func(pod *corev1.Pod) bool { return j.ordinalOf(pod.Name) >= 0 })
}

// mayComeFrom tells whether a revision may be the current one if the status names none. Pods of the set come from it,
// or it is the update revision and pods come from no other. What has still to be adopted may count.
func (j *statefulSetJudge) mayComeFrom(revision string) bool {
	others, history := false, j.revisions(j.set.UID, j.set.Spec.Selector)
	for _, pod := range j.members(j.Observed) {
		is := shortHash(pod.Labels[revisionLabel])
		if is == revision {
			return true
		}
		others = others || is != j.update && j.owned(pod) && history[pod.Labels[revisionLabel]] != nil
	}
	return revision == j.update && !others
}

// advances tells whether the observed pods allow the current revision to move to the update revision, and ask for it.
// Each wanted pod is there, available and updated, and no other pod is left that is not. (STS-S1)
func (j *statefulSetJudge) advances() bool {
	updated := map[int]bool{}
	for _, pod := range among(slices.Values(j.members(j.Observed)), j.owned) {
		if pod.DeletionTimestamp != nil || !j.readyAt(pod, j.Observed) || shortHash(pod.Labels[revisionLabel]) != j.update {
			return false
		}
		updated[j.ordinalOf(pod.Name)] = true
	}
	missing := slices.ContainsFunc(j.wanted, func(ordinal int) bool { return !updated[ordinal] })
	return j.rolling != nil && !missing
}

// checkCurrent: the current revision moves to the update revision when the update
// is complete, neither earlier nor later, and to no other.
func (j *statefulSetJudge) checkCurrent(status *v1beta1.StatefulSetStatus) {
	is := shortHash(status.CurrentRevision)
	if updated := shortHash(status.UpdateRevision); updated != j.update {
		j.add(Status, "updateRevision is %s, the template is that of %q", updated, j.update)
		return
	}
	advances := j.advances()
	was := j.observedCurrent()
	switch {
	case is == j.update && (advances || was == j.update):
	case was == "" && j.mayComeFrom(is):
	case is == j.update:
		j.add(Status, "currentRevision moves from %q to %s before the update is complete", was, is)
		return
	case is != was:
		j.add(Status, "currentRevision moves from %q to %s, the update revision is %s", was, is, j.update)
		return
	case advances:
		j.add(Status, "currentRevision stays %s when the update to %s is complete", is, j.update)
	}
	j.past.becomesCurrent(j.set.UID, is)
}

// checkRevision: a new pod is of the current revision if the partition holds
// it back, and else of the update revision. (STS-3)
func (j *statefulSetJudge) checkRevision(pod *corev1.Pod, ordinal int) {
	is, current := shortHash(pod.Labels[revisionLabel]), j.observedCurrent()
	back, free := j.holdsBack(ordinal)
	switch {
	case free && j.update != "" && is != j.update: // while no revision holds the template, the current one is right (CT-9)
		j.add(Partition, "creates pod %s at revision %s, partition %d, current %s, update %s", pod.Name, is, j.partition, current, j.update)
	case !back:
	case current != "" && is != current, current == "" && !j.mayComeFrom(is):
		j.add(Partition, "creates pod %s at revision %s, which the partition %d holds back, current %q, update %s", pod.Name, is, j.partition, current, j.update)
	case current != "" && !j.past.wasCurrent(j.set.UID, is):
		j.add(Partition, "creates pod %s, which the partition %d holds back, at revision %s, to which no update was ever completed", pod.Name, j.partition, is)
	}
}

// holdsBack tells whether the partition holds back a new pod, and whether it certainly does not. With unorderedUpdate
// that depends on which other pods are created in the same reconcile. (STS-3)
func (j *statefulSetJudge) holdsBack(ordinal int) (back, free bool) {
	if j.rolling == nil || j.rolling.UnorderedUpdate == nil {
		back = j.rolling != nil && j.below(ordinal)
		return back, !back
	}
	least, most := 0, 0 // wanted pods that are, or will be, at another revision
	for _, other := range without(j.wanted, ordinal) {
		known, observed := j.at(other), j.observedAt(other)
		old := func(p *corev1.Pod) bool {
			return p != nil && shortHash(p.Labels[revisionLabel]) != j.update && !(j.features.PreparingUpdateAsUpdate && preparesUpdate(p))
		}
		count(&least, old(known) && old(observed))
		count(&most, observed == nil || old(known) || old(observed))
	}
	return most < j.partition, least >= j.partition
}

func (j *statefulSetJudge) history() *history {
	return &history{uid: j.set.UID, selector: j.set.Spec.Selector, limit: j.set.Spec.RevisionHistoryLimit, needed: j.neededRevisions}
}

// neededRevisions says by short hash for what a revision is needed: the present template, the current revision, or a pod. Each pod that has
// a name of the set's counts.
func (j *statefulSetJudge) neededRevisions(s *State) map[string]string {
	needed := map[string]string{j.update: "the template", shortHash(j.set.Status.CurrentRevision): "status.currentRevision"}
	for _, pod := range j.members(s) {
		needed[shortHash(pod.Labels[revisionLabel])] = "pod " + pod.Name
	}
	return needed
}
