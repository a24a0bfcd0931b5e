// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	appsv1 "k8s.io/api/apps/v1"
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
