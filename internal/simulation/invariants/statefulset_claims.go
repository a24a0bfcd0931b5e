package invariants

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// claimOrdinal is the ordinal of the pod whose claim has a name, -1 where it is
// none of the set's.
func (j *statefulSetJudge) claimOrdinal(claim string) int {
	for i := range j.set.Spec.VolumeClaimTemplates {
		if pod, ok := strings.CutPrefix(claim, j.set.Spec.VolumeClaimTemplates[i].Name+"-"); ok && j.ordinalOf(pod) >= 0 {
			return j.ordinalOf(pod)
		}
	}
	return -1
}

// checkClaim: no claim is deleted; of one that exists only the owners change,
// and it gets none but those that the retention policy names. The garbage
// collector does the rest. (rules 23 to 25)
func (j *statefulSetJudge) checkClaim() {
	before, _ := j.Before.(*corev1.PersistentVolumeClaim)
	after, _ := j.After.(*corev1.PersistentVolumeClaim)
	switch {
	case j.Resource != "persistentvolumeclaims":
		return
	case j.Verb == "delete" || after == nil:
		j.add(Claims, "deletes claim %s", j.name())
		return
	case before == nil:
		before = &corev1.PersistentVolumeClaim{}
	case !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Labels, after.Labels):
		j.add(Claims, "changes more of claim %s than its owners", j.name())
	}
	for _, owner := range after.OwnerReferences {
		had := slices.ContainsFunc(before.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner.UID })
		if !had && !j.mayOwn(after, owner) {
			j.add(Claims, "claim %s gets the owner %s %s against the policy", after.Name, owner.Kind, owner.Name)
		}
	}
}

// MayOwn tells whether a new owner of a claim of a StatefulSet is one that its
// retention policy names: the set, or a pod that is left over.
func MayOwn(set *v1beta1.StatefulSet, claim *corev1.PersistentVolumeClaim, owner metav1.OwnerReference) bool {
	var v violations
	return newStatefulSetJudge(&v, &Write{Truth: &State{}}, set).mayOwn(claim, owner)
}

// mayOwn tells whether the retention policy names an owner of a claim.
func (j *statefulSetJudge) mayOwn(claim *corev1.PersistentVolumeClaim, owner metav1.OwnerReference) bool {
	policy := j.set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || owner.Controller != nil && *owner.Controller {
		return false
	}
	if owner.UID == j.set.UID {
		return policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	}
	return owner.Kind == "Pod" && j.ordinalOf(owner.Name) == j.claimOrdinal(claim.Name) && j.ordinalOf(owner.Name) >= j.end &&
		policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// checkClaimsOf: a new pod does not get a claim that is being deleted, or that
// goes with the pod or the set before it. (rule 5)
func (j *statefulSetJudge) checkClaimsOf(pod *corev1.Pod) {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim := j.Known.Claims[volume.PersistentVolumeClaim.ClaimName]
		if claim != nil && (claim.DeletionTimestamp != nil || j.goesWithFormer(claim, pod)) {
			j.add(Claims, "creates pod %s with claim %s, which is about to go", pod.Name, claim.Name)
		}
	}
}

// goesWithFormer tells whether a former pod of the name owns a claim, or nothing
// but a former set.
func (j *statefulSetJudge) goesWithFormer(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	sets := 0
	for _, o := range claim.OwnerReferences {
		switch {
		case o.Kind == "Pod" && o.Name == pod.Name:
			return true
		case o.Kind == "StatefulSet" && o.Name == j.set.Name && o.UID != j.set.UID:
			sets++
		}
	}
	return sets > 0 && sets == len(claim.OwnerReferences)
}
