// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkRevision judges a write of a revision. (CS-CR3 to CS-CR7)
func (j *cloneSetJudge) checkRevision() {
	before, _ := j.Before.(*appsv1.ControllerRevision)
	switch {
	case before == nil:
		if j.After.GetName() == "" || !metav1.IsControlledBy(j.After, j.set) {
			j.add(Ownership, "creates revision %s, which does not belong to the CloneSet", j.name())
		}
		j.checkClaimHash(j.After)
	case j.Verb == "delete":
		j.checkRevisionDeletion(before)
	}
}

// checkRevisionDeletion: a revision goes when nothing needs it, as it was seen, the
// oldest first, and no more than the history limit asks for. (CS-CR7)
func (j *cloneSetJudge) checkRevisionDeletion(r *appsv1.ControllerRevision) {
	if j.Asked != nil && j.Asked.ResourceVersion == "" {
		j.add(History, "deletes revision %s whatever has become of it since", r.Name)
	}
	needed := j.neededRevisions()
	if why := needed[shortHash(r.Name)]; why != "" {
		j.add(History, "deletes revision %s, which is that of %s", r.Name, why)
	}
	var unused []string // in the order in which they go
	for _, other := range slices.SortedFunc(maps.Values(j.Observed.Revisions), earlier) {
		if (controls(j.set.UID, other) || metav1.GetControllerOfNoCopy(other) == nil) && needed[shortHash(other.Name)] == "" {
			unused = append(unused, other.Name)
		}
	}
	limit := int(ptr.Deref(j.set.Spec.RevisionHistoryLimit, 10))
	if rank := slices.Index(unused, r.Name); rank >= len(unused)-limit {
		j.add(History, "deletes revision %s, the %d. of %d that nothing needs, revisionHistoryLimit %d", r.Name, rank+1, len(unused), limit)
	}
}

// neededRevisions says by short hash for what a revision is needed, as the author knew it. That is the template, or new
// pods that the partition holds back. It is also a pod that may still be updated, even one that prepares to leave.
func (j *cloneSetJudge) neededRevisions() map[string]string {
	needed := map[string]string{j.update: "the template"}
	if current := shortHash(j.set.Status.CurrentRevision); current != j.update {
		needed[current] = "status.currentRevision"
	}
	for _, pod := range j.Known.Pods {
		if j.owned(pod) && active(pod) {
			needed[shortHash(pod.Labels[revisionLabel])] = "pod " + pod.Name
		}
	}
	return needed
}

// reads tells whether a revision is the CloneSet's to read: its own, or one without an owner
// that the selector matches. (CS-CR4)
func (j *cloneSetJudge) reads(r *appsv1.ControllerRevision) bool {
	if r == nil {
		return false
	}
	return controls(j.set.UID, r) || metav1.GetControllerOfNoCopy(r) == nil && matches(j.set.Spec.Selector, r.Labels)
}

// checkCurrent: the current revision moves to the update revision, and to no other. It does so when no pod is behind, and every
// wanted one is there to stay. What the author saw decides, and not what the status said before.
func (j *cloneSetJudge) checkCurrent(before, after *v1alpha1.CloneSetStatus) {
	was, is := before.CurrentRevision, after.CurrentRevision
	if was == is || was == "" || !j.reads(j.Observed.Revisions[was]) {
		return
	}
	if is != after.UpdateRevision {
		j.add(Status, "currentRevision goes from %s to %s, the update revision is %s", was, is, after.UpdateRevision)
	}
	if may, why := j.mayAdvance(j.Observed); !may {
		j.add(Status, "currentRevision goes from %s to %s, though %s", was, is, why)
	}
}

// mayAdvance tells whether the pods of a state have all come to the update revision.
func (j *cloneSetJudge) mayAdvance(s *State) (may bool, why string) {
	updated := 0
	for _, pod := range s.Pods {
		switch {
		case !j.owned(pod) || !active(pod):
		case j.old(pod):
			return false, "pod " + pod.Name + " is of an old revision"
		case !preparingDelete(pod) && !j.isSpecified(pod) && !(j.limits.surge > 0 && awaitsEviction(pod, s.Now)):
			updated++
		}
	}
	if updated < j.limits.replicas {
		return false, "wanted pods are missing"
	}
	if j.features.PartitionRollback && j.limits.partition > 0 && updated > j.limits.replicas-j.limits.partition {
		return false, "the partition sends pods back"
	}
	return true, ""
}
