// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// checkClaims: claims get no owners that the retention policy does not name.
func (j *judge) checkClaims(plan *Plan) {
	policy := j.set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || j.features.NoAutoDeleteClaims {
		policy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	check := func(claim *corev1.PersistentVolumeClaim, owners []metav1.OwnerReference) {
		for _, owner := range owners {
			had := slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner.UID })
			bySet := owner.UID == j.set.UID && policy.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
			byPod := owner.Kind == "Pod" && policy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && j.podOf(plan, owner) >= j.end
			if !had && !bySet && !byPod {
				j.fail(plan, "claim %s gets the owner %s/%s against the policy %+v", claim.Name, owner.Kind, owner.Name, *policy)
			}
		}
	}
	patches := slices.Clone(plan.PatchClaims)
	for _, d := range plan.Delete {
		patches = append(patches, d.ChangeClaims...)
	}
	for _, patch := range patches {
		if j.features.NoAutoDeleteClaims {
			j.fail(plan, "changes claim %s, and the feature is off", patch.Claim.Name)
		}
		check(patch.Claim, patch.Owners)
	}
	created := slices.Clone(plan.CreateClaims)
	for _, c := range plan.Create {
		created = append(created, c.Claims...)
	}
	for _, claim := range created {
		check(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim.Name}}, claim.OwnerReferences)
	}
}

func (j *judge) podOf(plan *Plan, owner metav1.OwnerReference) int {
	for ordinal, pod := range j.pods {
		if pod.UID == owner.UID {
			return ordinal
		}
	}
	j.fail(plan, "a claim gets the owner %s, and there is no such pod", owner.Name)
	return 0
}

// checkClaimsKept: a pod that is recreated does not take its claims along.
func (j *judge) checkClaimsKept(plan *Plan) {
	for _, d := range plan.Delete {
		if j.ordinal(d.Pod) >= j.end || j.features.NoAutoDeleteClaims {
			continue
		}
		for _, claim := range j.Claims {
			if slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == d.Pod.UID }) {
				j.fail(plan, "claim %s goes with pod %s, which is recreated (%s)", claim.Name, d.Pod.Name, d.For)
			}
		}
	}
}

// doomed tells whether a claim belongs to a pod that is gone, and follows it.
func (j *judge) doomed(claim *corev1.PersistentVolumeClaim) bool {
	return len(claim.OwnerReferences) > 0 && !slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind != "Pod" || slices.ContainsFunc(j.Pods, func(p *corev1.Pod) bool { return p.UID == o.UID })
	})
}

// checkSettledClaims: every pod has the claims that it mounts, and these have the
// owners that the retention policy names, whatever has become of their templates.
func (j *judge) checkSettledClaims() {
	var want []types.UID
	if policy := j.set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil && policy.WhenDeleted == "Delete" {
		want = []types.UID{j.set.UID}
	}
	for _, ordinal := range j.wanted {
		for _, name := range claimsOf(j.pods[ordinal]) {
			claim := j.Claim(name)
			if claim == nil || claim.DeletionTimestamp != nil {
				j.T.Fatalf("settles, and pod %d has no claim %s", ordinal, name)
			}
			if j.features.NoAutoDeleteClaims {
				continue
			}
			if !slices.EqualFunc(want, claim.OwnerReferences, func(uid types.UID, o metav1.OwnerReference) bool { return uid == o.UID }) {
				j.T.Fatalf("settles, and the owners of claim %s are %v, wanted are %v", claim.Name, claim.OwnerReferences, want)
			}
		}
	}
}

// lacksClaims tells whether the pod of an ordinal does not mount the claims of
// all claim templates, and so was created before one of them.
func (j *judge) lacksClaims(ordinal int) bool {
	pod := j.pods[ordinal]
	return pod != nil && slices.ContainsFunc(j.set.Spec.VolumeClaimTemplates, func(template corev1.PersistentVolumeClaim) bool {
		return !slices.Contains(claimsOf(pod), claimName(template.Name, j.set.Name, ordinal))
	})
}
