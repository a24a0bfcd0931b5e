// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

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
	if before && now && was != is {
		j.add(Needless, "updates pod %s in place, and the claim templates of its revisions differ: %q, %q", known.Name, was, is)
	}
}

// revisionOf is the revision of a pod as it was observed, nil if it was not.
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
	case c.Reason != "ProgressDeadlineExceeded":
		want = "CloneSetUpdated"
	}
	if want != "" && c.Reason != want || (c.Status == corev1.ConditionTrue) == (want == "") {
		j.add(Status, "condition Progressing is %s %s, the numbers beside it say %q", c.Status, c.Reason, want)
	}
}
