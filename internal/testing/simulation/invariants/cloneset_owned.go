// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkClaim judges a write of a claim. (CS-20, CS-24, CS-36)
func (j *cloneSetJudge) checkClaim() {
	before, after := objects[*corev1.PersistentVolumeClaim](j.Write)
	switch {
	case before == nil:
		j.checkNewClaim(after)
	case j.Verb == "delete":
		j.checkClaimDeletion(before)
	default:
		j.checkNewOwner(before, after)
	}
}

// checkNewClaim: a claim is one of a template for an instance, and belongs to the CloneSet.
func (j *cloneSetJudge) checkNewClaim(claim *corev1.PersistentVolumeClaim) {
	id := claim.Labels[v1alpha1.CloneSetInstanceIDLabel]
	isOf := func(t corev1.PersistentVolumeClaim) bool { return claim.Name == t.Name+"-"+j.set.Name+"-"+id }
	j.never(id == "" || !slices.ContainsFunc(j.set.Spec.VolumeClaimTemplates, isOf), Claims,
		"creates claim %s with the instance id %q, which is of no template", claim.Name, id)
	j.never(!metav1.IsControlledBy(claim, j.set), Claims,
		"creates claim %s, which does not belong to the CloneSet", claim.Name)
}

// checkClaimDeletion: a claim is deleted when no pod that lives mounts it, whatever owns that pod, nor is of its
// instance. One that came after the author looked last is excused: no client can look and delete at once.
func (j *cloneSetJudge) checkClaimDeletion(claim *corev1.PersistentVolumeClaim) {
	for _, pod := range j.Truth.Pods {
		j.never(active(pod) && mounts(pod, claim.Name) && !j.cameSince(pod), Claims,
			"deletes claim %s, which pod %s mounts", claim.Name, pod.Name)
	}
	j.checkUnused(claim, "deletes")
}

// checkUnused: a claim is released when no pod of the CloneSet lives and uses it, neither in fact nor by what the
// author knew.
func (j *cloneSetJudge) checkUnused(claim *corev1.PersistentVolumeClaim, verb string) {
	if known := j.Known.Claims[claim.Name]; known != nil { // its label may have changed since
		claim = known
	}
	for _, pod := range j.Truth.Pods {
		known := j.Known.Pods[pod.Name]
		j.never(known != nil && known.UID == pod.UID && j.owned(known) && uses(known, claim) && j.owned(pod) && active(pod), Claims,
			"%s claim %s, whose pod %s is there", verb, claim.Name, pod.Name)
	}
}

// cameSince tells whether a pod was created after the author looked at it last.
func (j *cloneSetJudge) cameSince(pod *corev1.Pod) bool {
	known := j.Known.Pods[pod.Name]
	return (known == nil || known.UID != pod.UID) && j.Truth.Created[pod.UID] > max(j.Known.Version, j.Known.Asked[pod.Name])
}

// checkNewOwner: of a claim that exists only the owners change, and the time when it was used again. Its new owner is a
// pod that uses it, or that did when the author asked.
func (j *cloneSetJudge) checkNewOwner(before, after *corev1.PersistentVolumeClaim) {
	rest := after.DeepCopy()
	rest.OwnerReferences, rest.ResourceVersion = before.OwnerReferences, before.ResourceVersion
	if reused, found := after.Annotations[v1alpha1.CloneSetClaimReusedAnnotation]; found {
		before = before.DeepCopy()
		metav1.SetMetaDataAnnotation(&before.ObjectMeta, v1alpha1.CloneSetClaimReusedAnnotation, reused)
	}
	j.never(!equality.Semantic.DeepEqual(before, rest), Claims, "changes more of claim %s than its owners", before.Name)
	if controls(j.set.UID, before) && !controls(j.set.UID, after) {
		j.checkUnused(before, "releases")
	}
	for _, owner := range after.OwnerReferences {
		if owner.UID == j.set.UID || owns(owner.UID, before) {
			continue
		}
		pod := j.Known.Pods[owner.Name]
		if pod == nil || pod.UID != owner.UID { // the author has asked, or would not know the UID
			pod = j.Truth.Pods[owner.Name]
		}
		switch {
		case pod != nil && pod.UID != owner.UID && j.cameSince(pod) && j.Known.Asked[owner.Name] > 0: // it has replaced the owner
		case pod == nil || pod.UID != owner.UID || !uses(pod, before):
			j.add(Claims, "gives claim %s to %s %s, whose it is not", before.Name, owner.Kind, owner.Name)
		case j.owned(pod) && active(pod):
			j.add(Claims, "gives claim %s to pod %s, which is the CloneSet's and lives", before.Name, pod.Name)
		}
	}
}

// uses tells whether a claim belongs to a pod. The pod mounts it, or a pod of the same instance did, when there was a
// template for the claim.
func uses(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim) bool {
	id := claim.Labels[v1alpha1.CloneSetInstanceIDLabel]
	return mounts(pod, claim.Name) || id != "" && pod.Labels[v1alpha1.CloneSetInstanceIDLabel] == id
}

// checkMounts: a new pod mounts no claim that is on its way out, or that another
// pod uses. One of its own name is gone: the API server has accepted the new one.
func (j *cloneSetJudge) checkMounts(pod *corev1.Pod) {
	for _, name := range claimsIn(pod) {
		claim := j.Known.Claims[name]
		j.never(claim != nil && claim.DeletionTimestamp != nil, Claims,
			"creates pod %s, which mounts claim %s, which is being deleted", pod.Name, name)
		for _, other := range j.Known.Pods {
			j.never(other.Name != pod.Name && mounts(other, name), Claims,
				"creates pod %s, which mounts claim %s of pod %s", pod.Name, name, other.Name)
		}
	}
}

// checkRelease: a pod that is given up takes its claims along.
func (j *cloneSetJudge) checkRelease(before, after *corev1.Pod) {
	if !controls(j.set.UID, before) || controls(j.set.UID, after) {
		return
	}
	for name, claim := range j.Known.Claims {
		j.never(mounts(before, name) && controls(j.set.UID, claim) && claim.DeletionTimestamp == nil, Claims,
			"releases pod %s, and keeps its claim %s", before.Name, name)
	}
}

// checkOwners: when settled the claims of each pod of the CloneSet belong to the CloneSet or to the pod itself. The
// latter holds for a pod that was put back when it was about to be given up. If claims are not used again, none is left
// without its pod. A pod that another client took out of the CloneSet excuses that: its claims do not say to whom it
// went. A pod of the CloneSet may also mount a claim without an owner. Another manager created the pod while this one
// released the claim to a stranger of the pod's name. (CS-20, CS-36)
func (j *cloneSetJudge) checkOwners(s *State) {
	for name, claim := range s.Claims {
		mine, used := controls(j.set.UID, claim), false
		for _, pod := range s.Pods {
			if !active(pod) || !uses(pod, claim) {
				continue
			}
			used = true
			orphaned := len(claim.OwnerReferences) == 0 && j.past.wasReleased(claim.UID)
			j.never(j.owned(pod) && !mine && !orphaned && !owns(pod.UID, claim) && claim.DeletionTimestamp == nil, Claims,
				"claim %s of pod %s belongs to %v", name, pod.Name, ownerNames(claim))
		}
		waits := s.refuses("create", "pods") && j.counts.total < j.limits.replicas+j.limits.surge // for a pod that is refused
		j.never(mine && !used && !waits && claim.DeletionTimestamp == nil && j.set.Spec.ScaleStrategy.DisablePVCReuse, Claims,
			"claim %s is left without a pod, scaleStrategy.disablePVCReuse", name)
	}
}

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
	may, why := j.mayAdvance(j.Observed)
	j.never(!may, Status, "currentRevision goes from %s to %s, though %s", was, is, why)
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
