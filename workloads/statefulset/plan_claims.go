package statefulset

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// planClaims keeps the owners of claims as the retention policy says, creates
// claims that somebody took from under a pod that waits for them, and reports
// pods that lack one. (rules 10, 23 to 25)
func (p *planner) planClaims() {
	if len(p.Set.Spec.VolumeClaimTemplates) == 0 {
		return
	}
	var lacking []*pod
	for _, pod := range p.pods {
		if !p.storageMatches(pod) {
			if p.window.contains(pod.ordinal) && !pod.terminating {
				lacking = append(lacking, pod)
			}
			continue
		}
		p.planClaimsOf(pod)
	}
	p.reportLacking(lacking)
}

func (p *planner) planClaimsOf(pod *pod) {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		template := &p.Set.Spec.VolumeClaimTemplates[i]
		claim := p.Claims[claimName(template.Name, p.Set.Name, pod.ordinal)]
		switch {
		case claim == nil:
			if pod.Status.Phase == corev1.PodPending && !pod.terminating && p.window.contains(pod.ordinal) {
				p.plan.CreateClaims = append(p.plan.CreateClaims, p.newClaim(template, pod.ordinal))
			}
		case !p.Features.NoAutoDeleteClaims && claim.DeletionTimestamp == nil:
			if owners, change := p.ownersOf(claim, pod); change {
				pod.claims = append(pod.claims, ClaimPatch{Claim: claim, Owners: owners})
			}
		}
	}
}

// storageMatches tells whether a pod mounts its claims.
func (p *planner) storageMatches(pod *pod) bool {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		name := p.Set.Spec.VolumeClaimTemplates[i].Name
		if !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == name && v.PersistentVolumeClaim != nil &&
				v.PersistentVolumeClaim.ClaimName == claimName(name, p.Set.Name, pod.ordinal)
		}) {
			return false
		}
	}
	return true
}

// reportLacking reports pods that do not mount all of their claims. The volumes
// of a pod cannot change, so no request is made for it. (edge 19)
func (p *planner) reportLacking(pods []*pod) {
	if len(pods) == 0 {
		return
	}
	more := ""
	if len(pods) > 1 {
		more = fmt.Sprintf(" and %d more", len(pods)-1)
	}
	p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, fmt.Errorf(
		"pod %s%s: does not mount the claims that spec.volumeClaimTemplates asks for, and the volumes of a pod cannot change; "+
			"delete the pod to have it recreated with them", pods[0].Name, more))
}

// scaledDown tells whether a pod is left over since there are fewer replicas.
// A pod whose ordinal was reserved is not: its data is kept. (rule 24)
func (p *planner) scaledDown(pod *pod) bool { return pod.ordinal >= p.window.end }

// ownersOf returns the owners that a claim of a pod should have by the
// retention policy, and whether that is a change. A claim that something else
// controls, or that a StatefulSet or pod of the same name and another UID owns,
// is left as it is. (rule 23)
func (p *planner) ownersOf(claim *corev1.PersistentVolumeClaim, pod *pod) ([]metav1.OwnerReference, bool) {
	ofSet, ofPod := claimOwner(ownerReference(p.Set)), claimOwner(*metav1.NewControllerRef(pod.Pod, corev1.SchemeGroupVersion.WithKind("Pod")))
	wantSet, wantPod := p.retention(pod)
	var owners []metav1.OwnerReference
	hasSet, hasPod := false, false
	for _, owner := range claim.OwnerReferences {
		switch {
		case owner.UID == p.Set.UID:
			hasSet = true
		case owner.UID == pod.UID:
			hasPod = true
		case owner.Controller != nil && *owner.Controller, sameOwnerName(&owner, &ofSet), sameOwnerName(&owner, &ofPod):
			return nil, false
		default:
			owners = append(owners, owner)
		}
	}
	if wantSet {
		owners = append(owners, ofSet)
	}
	if wantPod {
		owners = append(owners, ofPod)
	}
	return owners, hasSet != wantSet || hasPod != wantPod
}

// retention tells who should own the claims of a pod.
func (p *planner) retention(pod *pod) (set, ofPod bool) {
	whenDeleted, whenScaled := p.retentionPolicy()
	ofPod = whenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && p.scaledDown(pod)
	return whenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && !ofPod, ofPod
}

// retentionPolicy is the spec's. What it leaves open is not Delete. (rule 25)
func (p *planner) retentionPolicy() (whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) {
	policy := p.Set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || p.Features.NoAutoDeleteClaims {
		return "", ""
	}
	return policy.WhenDeleted, policy.WhenScaled
}

// claimOwner makes the reference plain: who owns a claim does not control it.
func claimOwner(owner metav1.OwnerReference) metav1.OwnerReference {
	owner.Controller, owner.BlockOwnerDeletion = nil, nil
	return owner
}

func sameOwnerName(a, b *metav1.OwnerReference) bool {
	return a.APIVersion == b.APIVersion && a.Kind == b.Kind && a.Name == b.Name
}

// goesWithFormerPod tells whether a pod owns the claim that had the name of
// the new one: the garbage collector takes the claim once it has noticed. (rule 5)
func goesWithFormerPod(claim *corev1.PersistentVolumeClaim, pod string) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "Pod" && o.APIVersion == "v1" && o.Name == pod
	})
}

// newClaim makes a claim. Its labels are those that the selector matches; who
// owns it is written down at once where the whole set does. (rule 23)
func (p *planner) newClaim(template *corev1.PersistentVolumeClaim, ordinal int) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   p.Set.Namespace,
			Name:        claimName(template.Name, p.Set.Name, ordinal),
			Labels:      maps.Clone(p.Set.Spec.Selector.MatchLabels),
			Annotations: maps.Clone(template.Annotations),
			Finalizers:  slices.Clone(template.Finalizers),
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if whenDeleted, _ := p.retentionPolicy(); whenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		claim.OwnerReferences = []metav1.OwnerReference{claimOwner(ownerReference(p.Set))}
	}
	return claim
}
