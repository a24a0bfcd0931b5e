// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkRevision judges a write of a revision. (CS-CR3 to CS-CR7)
func (j *cloneSetJudge) checkRevision() {
	j.history().checkWrite(j.violations, j.Write)
	if j.Before == nil {
		j.checkClaimHash(j.After)
	}
}

func (j *cloneSetJudge) history() *history {
	return &history{uid: j.set.UID, selector: j.set.Spec.Selector, limit: j.set.Spec.RevisionHistoryLimit, needed: j.neededRevisions}
}

// neededRevisions says by short hash for what a revision is needed. That is the template, or new pods that the partition holds back. It is
// also a pod that may still be updated, even one that prepares to leave.
func (j *cloneSetJudge) neededRevisions(s *State) map[string]string {
	needed := map[string]string{j.update: "the template"}
	if current := shortHash(j.set.Status.CurrentRevision); current != j.update {
		needed[current] = "status.currentRevision"
	}
	for _, pod := range s.Pods {
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
	j.never(is != after.UpdateRevision, Status,
		"currentRevision goes from %s to %s, the update revision is %s", was, is, after.UpdateRevision)
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

// countedOld tells whether a pod counts as an old one when pods are created, or deleted as surplus. (CS-43)
func (j *cloneSetJudge) countedOld(pod *corev1.Pod) bool {
	return j.old(pod) && !(j.features.PreparingUpdateAsUpdate && preparesUpdate(pod))
}

// claimHash is the annotation of a revision that stands for the claim templates.
func claimHash(r Object) (hash string, found bool) {
	hash, found = r.GetAnnotations()["kruise.io/cloneset-volumeclaimtemplate-hash"]
	return hash, found
}

// checkClaimHash: a new revision tells whether there were claim templates. (CS-44)
func (j *cloneSetJudge) checkClaimHash(r Object) {
	hash, found := claimHash(r)
	switch wanted := j.features.ClaimTemplateHash || j.features.RecreateForClaims; {
	case wanted != found:
		j.add(Spec, "creates revision %s, annotated with a hash of claim templates: %t", r.GetName(), found)
	case found && (hash == "") != (len(j.set.Spec.VolumeClaimTemplates) == 0):
		j.add(Spec, "creates revision %s with the hash %q of %d claim templates", r.GetName(), hash, len(j.set.Spec.VolumeClaimTemplates))
	}
}

// checkSameClaims: no pod goes in place to a revision of other claim templates. (CS-45)
func (j *cloneSetJudge) checkSameClaims(known, after *corev1.Pod) {
	if !j.features.RecreateForClaims || j.inPlaceOnly() {
		return
	}
	from, to := j.revisionOf(known), j.revisionOf(after)
	if from == nil || to == nil {
		return
	}
	was, before := claimHash(from)
	is, now := claimHash(to)
	j.never(before && now && was != is, Needless,
		"updates pod %s in place, and the claim templates of its revisions differ: %q, %q", known.Name, was, is)
}

func (j *cloneSetJudge) revisionOf(pod *corev1.Pod) *appsv1.ControllerRevision {
	for name, r := range j.Observed.Revisions {
		if shortHash(name) == shortHash(pod.Labels[revisionLabel]) && j.reads(r) {
			return r
		}
	}
	return nil
}

// checkReason: with the reasons of OpenKruise 1.9, the numbers beside a condition Progressing say which one it has. (CS-47)
func (j *cloneSetJudge) checkReason(s *v1alpha1.CloneSetStatus) {
	c := conditionOf(s, v1alpha1.CloneSetConditionProgressing)
	if !j.features.ProgressReasons || c == nil || s.UpdateRevision == "" || shortHash(s.UpdateRevision) != j.update {
		return
	}
	replicas, expected := j.limits.replicas, j.limits.replicas-j.limits.partition
	available := s.CurrentRevision == s.UpdateRevision && int(s.Replicas) == replicas && int(s.UpdatedAvailableReplicas) == replicas
	if j.onDelete() {
		available = j.reached(s)
	}
	want := ""
	switch {
	case available:
		want = "CloneSetAvailable"
	case j.set.Spec.UpdateStrategy.Paused:
		want = "CloneSetPaused"
	case expected < replicas && expected <= int(s.UpdatedAvailableReplicas):
		want = "ProgressPartitionAvailable"
	case c.reason != "ProgressDeadlineExceeded":
		want = "CloneSetUpdated"
	}
	j.never(want != "" && c.reason != want || (c.status == "True") == (want == ""), Status,
		"condition Progressing is %s %s, the numbers beside it say %q", c.status, c.reason, want)
}
