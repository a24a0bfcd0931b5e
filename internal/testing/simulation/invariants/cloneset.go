// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// CloneSetFeatures are the features of the controller of CloneSets that change what it may do.
type CloneSetFeatures struct {
	PartitionRollback, ExcludePreparingDelete, InPlaceResize bool
	// Those of OpenKruise 1.9. (CS-42 to CS-47)
	PauseWithoutSurge, PreparingUpdateAsUpdate, ClaimTemplateHash, RecreateForClaims, ProgressReasons bool
}

// CloneSet judges a write of the controller of CloneSets.
func CloneSet(w *Write, features CloneSetFeatures) []Violation {
	var v violations
	checkPrecise(&v, w)
	set, ok := w.spec().(*v1alpha1.CloneSet)
	if !ok {
		return nil // it is gone, and nothing of it is touched but by the garbage collector
	}
	checkOwnership(&v, w, set.UID, func(before, _ Object) bool { // orphans are used as they are (CS-CR4)
		return w.Resource == "controllerrevisions" && metav1.GetControllerOfNoCopy(before) == nil &&
			templatesOf(w.Truth.Revisions)[shortHash(before.GetName())] != nil
	})
	checkHooks(&v, w, set.Spec.Lifecycle, set.Spec.Selector)
	checkInPlace(&v, w, set.Spec.Lifecycle)
	checkGraceful(&v, w)
	if w.Known == nil {
		return v
	}
	j := newCloneSetJudge(&v, w, set, features)
	j.never(set.DeletionTimestamp != nil && (w.Resource == "pods" || w.Verb == "create"), Needless, // that is for the garbage collector
		"%s of %s %s, the CloneSet is being deleted", w.Verb, w.Resource, w.name())
	switch w.Resource {
	case "pods":
		j.checkPod()
	case "clonesets":
		if w.Subresource == "status" {
			j.checkStatus()
		} else {
			j.checkSpec()
		}
	case "persistentvolumeclaims":
		j.checkClaim()
	case "controllerrevisions":
		j.checkRevision()
	}
	return v
}

type cloneSetJudge struct {
	*violations
	*Write
	set       *v1alpha1.CloneSet
	features  CloneSetFeatures
	limits    cloneSetLimits
	update    string // the short hash of the update revision
	specified map[string]bool
	counts    cloneSetCounts
	past      *Past
}

// cloneSetCounts counts pods as the author knew them before the write.
type cloneSetCounts struct {
	total, old, updated  int // active; with the exclude option without those in PreparingDelete
	all                  int // active, whatever their state
	movingOld, movingNew int // without those in PreparingDelete
	prepared             int // of movingOld, those that count as updated when pods are scaled (CS-43)
	specified            int // marked for deletion, and not in PreparingDelete
	available            int
	unavailable          int // in PreparingDelete, or neither marked for deletion nor available
}

func newCloneSetJudge(v *violations, w *Write, set *v1alpha1.CloneSet, features CloneSetFeatures) *cloneSetJudge {
	j := &cloneSetJudge{violations: v, Write: w, set: set, features: features, limits: limitsOf(set, features), specified: map[string]bool{}}
	j.update = updateRevision(&set.Spec.Template, w.revisions(set.UID, set.Spec.Selector))
	for _, name := range set.Spec.ScaleStrategy.PodsToDelete {
		j.specified[name] = true
	}
	exclude := features.ExcludePreparingDelete || set.Labels[v1alpha1.CloneSetScalingExcludePreparingDeleteLabel] == "true"
	for _, pod := range w.Known.Pods {
		if j.owned(pod) && active(pod) {
			j.counts.add(j, pod, exclude)
		}
	}
	return j
}

func (c *cloneSetCounts) add(j *cloneSetJudge, pod *corev1.Pod, exclude bool) {
	leaving := preparingDelete(pod)
	old, countedOld, counts := j.old(pod), j.countedOld(pod), !leaving || !exclude
	c.all++
	count(&c.total, counts)
	count(&c.old, counts && countedOld)
	count(&c.updated, counts && !countedOld)
	count(&c.prepared, old && !countedOld)
	count(&c.movingOld, !leaving && old)
	count(&c.movingNew, !leaving && !old)
	count(&c.specified, !leaving && j.isSpecified(pod))
	count(&c.available, j.available(pod))
	count(&c.unavailable, leaving || !j.isSpecified(pod) && !j.available(pod))
}

func (j *cloneSetJudge) owned(pod *corev1.Pod) bool {
	return controls(j.set.UID, pod) && matches(j.set.Spec.Selector, pod.Labels)
}

func (j *cloneSetJudge) old(pod *corev1.Pod) bool {
	return shortHash(pod.Labels[revisionLabel]) != j.update
}

func (j *cloneSetJudge) inPlaceOnly() bool {
	return j.set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
}

// onDelete tells whether users alone update pods. (CS-37)
func (j *cloneSetJudge) onDelete() bool {
	return j.set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType
}

// inPlace tells whether pods are updated in place if that is possible.
func (j *cloneSetJudge) inPlace() bool {
	return j.inPlaceOnly() || j.set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
}

func (j *cloneSetJudge) available(pod *corev1.Pod) bool {
	return available(pod, j.set.Spec.MinReadySeconds, j.Known.Now)
}

func (j *cloneSetJudge) checkPod() {
	before, after := j.pods()
	known := j.knownPod()
	switch {
	case j.limits.broken:
		j.never(before == nil || j.Verb == "delete" || updated(before, after), Spec,
			"%s of pod %s, though the spec cannot be read", j.Verb, j.name())
	case before == nil:
		j.checkCreation(after)
	case known == nil: // the ownership is judged
	case j.Verb == "delete":
		j.checkDeletion(known)
		j.checkTaken(known, before, nil)
	default:
		if updated(before, after) {
			j.checkNewRevision(known, after)
		}
		j.checkRelease(before, after)
		j.checkTaken(known, before, after)
	}
}

// checkCreation: there are never more pods than replicas and maxSurge allow, and of each revision no more than its
// share. Not too many come up at once. (CS-10 to CS-12, CS-17)
func (j *cloneSetJudge) checkCreation(pod *corev1.Pod) {
	l, c := &j.limits, &j.counts
	j.never(c.total+1 > l.replicas+l.surge, Surge,
		"creates pod %s beside %d, replicas %d, maxSurge %d", pod.Name, c.total, l.replicas, l.surge)
	evicted := j.countPods(j.Known, func(pod *corev1.Pod) bool { return awaitsEviction(pod, j.Known.Now) }) // which a drain could not
	if room := min(l.surge, max(c.specified, evicted)); j.set.Spec.UpdateStrategy.Paused && c.total+1 > l.replicas+room {
		j.add(Paused, "creates pod %s beside %d, replicas %d, updateStrategy.paused, %d more for deletions and evictions", pod.Name, c.total, l.replicas, room)
	}
	j.never(c.unavailable+1 > l.scaleUnavailable, ScaleRate,
		"creates pod %s while %d are not available, scaleStrategy.maxUnavailable is %d", pod.Name, c.unavailable, l.scaleUnavailable)
	if j.update != "" && j.old(pod) && c.old+1 > l.partition+l.surge { // while no revision holds the template, the current one is right (CT-9)
		j.add(Partition, "creates pod %s of an old revision beside %d, partition %d, maxSurge %d", pod.Name, c.old, l.partition, l.surge)
	}
	current := shortHash(j.set.Status.CurrentRevision)
	if is := shortHash(pod.Labels[revisionLabel]); j.old(pod) && current != "" && is != current && j.Known.Revisions[j.set.Status.CurrentRevision] != nil {
		j.add(Partition, "creates pod %s of revision %s, the current one is %s", pod.Name, is, current)
	}
	j.never(!j.old(pod) && current != "" && current != j.update && c.updated+1 > l.replicas-l.partition+l.surge, Partition,
		"creates pod %s of the update revision beside %d, replicas %d, partition %d, maxSurge %d",
		pod.Name, c.updated, l.replicas, l.partition, l.surge)
	j.checkInstance(pod)
	j.checkMounts(pod)
}

func (j *cloneSetJudge) countPods(s *State, is func(*corev1.Pod) bool) int {
	return len(among(maps.Values(s.Pods), func(pod *corev1.Pod) bool { return j.owned(pod) && active(pod) && is(pod) }))
}

// checkInstance: no two pods have one instance id. (CS-18)
func (j *cloneSetJudge) checkInstance(pod *corev1.Pod) {
	id := pod.Labels[v1alpha1.CloneSetInstanceIDLabel]
	j.never(id == "" || pod.Name != j.set.Name+"-"+id, Identity, "creates pod %s with the instance id %q", pod.Name, id)
	for _, other := range j.Truth.Pods {
		j.never(other.Labels[v1alpha1.CloneSetInstanceIDLabel] == id && controls(j.set.UID, other), Identity,
			"creates pod %s, pod %s has its instance id", pod.Name, other.Name)
	}
}

// checkDeletion: a pod is deleted if it is marked for deletion, left over, or in the way
// of the update. (CS-21 to CS-23, CS-33)
func (j *cloneSetJudge) checkDeletion(pod *corev1.Pod) {
	c := &j.counts
	switch {
	case !j.owned(pod) && metav1.IsControlledBy(pod, j.set) && newborn(pod, j.Known.Now): // something changes the labels of new pods
	case !j.owned(pod):
		j.add(Ownership, "deletes pod %s, which its selector does not match", pod.Name)
	case !active(pod):
		j.add(Needless, "deletes pod %s, which has ended or is being deleted", pod.Name)
	case preparingDelete(pod), j.isSpecified(pod):
	case c.total-c.specified > j.limits.replicas:
		if !j.old(pod) || j.set.Spec.UpdateStrategy.Paused || c.movingOld-1 < j.limits.partition { // otherwise it may be recreated
			j.checkSurplus(pod)
		}
		exchange := min(c.movingOld-c.prepared-j.limits.partition, j.limits.replicas-j.limits.partition-c.movingNew-c.prepared)
		if j.update != "" && c.total-c.specified <= j.limits.replicas+min(j.limits.surge, exchange) { // it is no surplus, unless no revision holds the template (CT-9)
			j.checkSettling(pod, "deletes")
		}
	default:
		j.checkUpdate(pod, "deletes")
		j.never(j.inPlaceOnly(), Needless, "deletes pod %s, updateStrategy.type InPlaceOnly", pod.Name)
		if j.features.InPlaceResize && j.inPlace() && j.updatesInPlace(pod, j.Known) && j.updatesInPlace(pod, j.Truth) && reportsResources(pod) {
			j.add(Needless, "deletes pod %s, which can be updated in place", pod.Name)
		}
	}
}

// checkNewRevision judges a pod that goes to another revision in place.
func (j *cloneSetJudge) checkNewRevision(known, after *corev1.Pod) {
	j.checkUpdate(known, "updates")
	j.checkSameClaims(known, after)
	j.never(!j.inPlace(), Needless,
		"updates pod %s in place, updateStrategy.type %q", known.Name, j.set.Spec.UpdateStrategy.Type)
	j.never(j.old(after) == j.old(known), Needless,
		"updates pod %s from revision %s to %s", known.Name, known.Labels[revisionLabel], after.Labels[revisionLabel])
}

// checkUpdate: a pod is updated while the update is not paused, and while more than
// the partition are old; back again only with PartitionRollback. (CS-13, CS-26)
func (j *cloneSetJudge) checkUpdate(pod *corev1.Pod, verb string) {
	l, c := &j.limits, &j.counts
	j.never(j.onDelete(), Needless, "%s pod %s, updateStrategy.type OnDelete", verb, pod.Name)
	j.never(j.set.Spec.UpdateStrategy.Paused, Paused, "%s pod %s, updateStrategy.paused", verb, pod.Name)
	j.never(inGrace(pod) && !unreadable(pod), Needless,
		"%s pod %s within the grace period of its former update", verb, pod.Name)
	j.checkTurn(pod, verb)
	j.checkSettling(pod, verb)
	switch {
	case j.old(pod):
		j.never(!matches(j.set.Spec.Selector, j.set.Spec.Template.Labels), Ownership,
			"%s pod %s for a template that the selector does not match", verb, pod.Name)
		j.never(c.movingOld-1 < l.partition, Partition,
			"%s pod %s, one of %d of old revisions, partition %d", verb, pod.Name, c.movingOld, l.partition)
	case !j.features.PartitionRollback:
		j.add(Needless, "%s pod %s, which is at the update revision", verb, pod.Name)
	case c.movingOld+1 > l.partition:
		j.add(Partition, "%s pod %s, %d are of old revisions, partition %d", verb, pod.Name, c.movingOld, l.partition)
	}
}

// checkSettling: with a surge, a pod that serves and only waits for minReadySeconds goes as an available one does. That
// is while more pods are available than maxUnavailable requires. (CS-31)
func (j *cloneSetJudge) checkSettling(known *corev1.Pod, verb string) {
	before, _ := j.pods()
	settling := func(pod *corev1.Pod, s *State) bool {
		return available(pod, 0, s.Now) && !available(pod, j.set.Spec.MinReadySeconds, s.Now)
	}
	if least := j.limits.replicas - j.limits.unavailable; j.limits.surge > 0 && settling(known, j.Known) && settling(before, j.Truth) && j.counts.available <= least {
		j.add(Availability, "%s pod %s, which serves and waits for minReadySeconds; %d are available, replicas %d, maxUnavailable %d",
			verb, known.Name, j.counts.available, j.limits.replicas, j.limits.unavailable)
	}
}

// checkTaken: an available pod is taken out of service only while the others
// are as many as maxUnavailable leaves. (CS-12, CS-31)
func (j *cloneSetJudge) checkTaken(known, before, after *corev1.Pod) {
	now := j.Truth.Now
	if after == nil && !ready(known) && serves(known) && available(before, j.set.Spec.MinReadySeconds, now) &&
		j.counts.available < j.limits.replicas-j.limits.unavailable {
		j.add(Availability, "deletes pod %s because it was not ready, and it is available by now", before.Name)
	}
	if !j.available(known) || !available(before, j.set.Spec.MinReadySeconds, now) ||
		after != nil && available(after, j.set.Spec.MinReadySeconds, now) && equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return
	}
	if left := j.counts.available - 1; left < j.limits.replicas-j.limits.unavailable {
		j.add(Availability, "takes pod %s out of service, %d are left, replicas %d, maxUnavailable %d",
			known.Name, left, j.limits.replicas, j.limits.unavailable)
	}
}

// checkSpec: of the spec, only names of pods that are gone are dropped from podsToDelete.
func (j *cloneSetJudge) checkSpec() {
	before, after := objects[*v1alpha1.CloneSet](j.Write)
	if j.wrong(before == nil || after == nil, Spec, "%s of the CloneSet", j.Verb) {
		return
	}
	rest := after.Spec.DeepCopy()
	rest.ScaleStrategy.PodsToDelete = before.Spec.ScaleStrategy.PodsToDelete
	j.never(!equality.Semantic.DeepEqual(&before.Spec, rest), Spec, "changes the spec")
	for _, name := range before.Spec.ScaleStrategy.PodsToDelete {
		left := slices.Contains(after.Spec.ScaleStrategy.PodsToDelete, name)
		pod := j.Observed.Pods[name]
		j.never(!left && pod != nil && j.owned(pod) && active(pod), Spec, "drops pod %s from podsToDelete, which exists", name)
	}
}
