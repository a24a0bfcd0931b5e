// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// planClaims keeps the owners of claims as the retention policy says. It creates claims that were deleted while a pod waits for
// them, and reports pods that lack one. (STS-10, STS-23 to STS-25)
func (p *planner) planClaims() {
	var lacking []*pod
	for _, pod := range p.pods {
		p.planClaimsOf(pod)
		if p.window.contains(pod.ordinal) && !pod.terminating && !p.storageMatches(pod) {
			lacking = append(lacking, pod)
		}
	}
	p.disownClaims()
	p.reportLacking(lacking)
}

// planClaimsOf decides about each claim of a pod by itself: claim templates may
// have come and gone since the pod was created.
func (p *planner) planClaimsOf(pod *pod) {
	for i := range pod.Spec.Volumes {
		name := claimOf(pod.Pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		switch claim := p.Claims[name]; {
		case claim == nil:
			template := p.claimTemplate(pod.Spec.Volumes[i].Name)
			if template != nil && pod.Status.Phase == corev1.PodPending && !pod.terminating && p.window.contains(pod.ordinal) {
				p.plan.CreateClaims = append(p.plan.CreateClaims, p.newClaim(template, pod.ordinal))
			}
		case !p.Features.NoAutoDeleteClaims && claim.DeletionTimestamp == nil:
			if owners, change := p.ownersOf(claim, pod); change {
				pod.claims = append(pod.claims, rollout.ClaimPatch{Claim: claim, Owners: owners})
			}
		}
	}
}

// claimTemplate returns the claim template of a name; nil if there is none.
func (p *planner) claimTemplate(name string) *corev1.PersistentVolumeClaim {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		if p.Set.Spec.VolumeClaimTemplates[i].Name == name {
			return &p.Set.Spec.VolumeClaimTemplates[i]
		}
	}
	return nil
}

// storageMatches tells whether a pod mounts the claims of all claim templates.
func (p *planner) storageMatches(pod *pod) bool {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		if mounted(pod.Pod, p.Set.Spec.VolumeClaimTemplates[i].Name) == "" {
			return false
		}
	}
	return true
}

// mounted is the name of the claim of a claim template that a pod mounts; empty if it mounts none.
func mounted(pod *corev1.Pod, template string) string {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == template {
			return claimOf(pod, v)
		}
	}
	return ""
}

// claimOf returns the name of the claim in a volume of a pod, if its StatefulSet has made the claim of a claim template. Whether
// that template still exists does not matter. Otherwise the name is empty. claimOf builds no names: it is asked about every pod
// in every reconcile.
func claimOf(pod *corev1.Pod, v *corev1.Volume) string {
	if v.PersistentVolumeClaim == nil {
		return ""
	}
	rest, ok := strings.CutPrefix(v.PersistentVolumeClaim.ClaimName, v.Name)
	if ok && len(rest) == 1+len(pod.Name) && rest[0] == '-' && rest[1:] == pod.Name {
		return v.PersistentVolumeClaim.ClaimName
	}
	return ""
}

// reportLacking reports pods that do not mount all of their claims. The volumes
// of a pod cannot change, so no request is made for it. (STS-E19)
func (p *planner) reportLacking(pods []*pod) {
	if len(pods) == 0 {
		return
	}
	more := ""
	if len(pods) > 1 {
		more = fmt.Sprintf(" and %d more", len(pods)-1)
	}
	p.UpdateProblem(fmt.Errorf(
		"pod %s%s: does not mount the claims that spec.volumeClaimTemplates asks for, and the volumes of a pod cannot change; "+
			"delete the pod to have it recreated with them", pods[0].Name, more))
}

// scaledDown tells whether a pod is left over since there are fewer replicas, or since they begin at a higher ordinal.
// A pod whose ordinal was reserved is not: its data is kept. (STS-24, STS-31)
func (p *planner) scaledDown(pod *pod) bool {
	return pod.ordinal < p.window.start || pod.ordinal >= p.window.end
}

// ownersOf returns the owners that a claim of a pod should have by the
// retention policy, and whether that is a change. A claim that something else
// controls, or that a StatefulSet or pod of the same name and another UID owns,
// is left alone. (STS-23)
func (p *planner) ownersOf(claim *corev1.PersistentVolumeClaim, pod *pod) ([]metav1.OwnerReference, bool) {
	wantSet, wantPod := p.retention(pod)
	hasSet, hasPod := false, false
	for i := range claim.OwnerReferences {
		switch owner := &claim.OwnerReferences[i]; {
		case owner.UID == p.Set.UID:
			hasSet = true
		case owner.UID == pod.UID:
			hasPod = true
		case owner.Controller != nil && *owner.Controller, p.namesSet(owner), namesPod(owner, pod.Name):
			return nil, false
		}
	}
	if hasSet == wantSet && hasPod == wantPod {
		return nil, false
	}
	owners := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool {
		return o.UID == p.Set.UID || o.UID == pod.UID
	})
	if wantSet {
		owners = append(owners, claimOwner(p.Owner()))
	}
	if wantPod {
		owners = append(owners, claimOwner(*metav1.NewControllerRef(pod.Pod, corev1.SchemeGroupVersion.WithKind("Pod"))))
	}
	return owners, true
}

// disownClaims takes the StatefulSet off the claims that none of its pods mounts, if they shall not go with it. They are of pods
// that were scaled away, taken out of the StatefulSet, or never created. Nothing is ever added to such a claim. (STS-23)
func (p *planner) disownClaims() {
	if p.setOwnsClaims() || p.Features.NoAutoDeleteClaims {
		return
	}
	var owned []*corev1.PersistentVolumeClaim
	for _, claim := range p.Claims {
		if claim.DeletionTimestamp == nil && podplan.OwnedBy(claim, p.Set.UID) && p.namesClaim(claim.Name) {
			owned = append(owned, claim)
		}
	}
	if len(owned) == 0 {
		return
	}
	mounted := p.mountedClaims()
	slices.SortFunc(owned, func(a, b *corev1.PersistentVolumeClaim) int { return strings.Compare(a.Name, b.Name) })
	for _, claim := range owned {
		if !mounted[claim.Name] && p.mayDisown(claim) {
			owners := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool { return o.UID == p.Set.UID })
			p.plan.PatchClaims = append(p.plan.PatchClaims, rollout.ClaimPatch{Claim: claim, Owners: owners})
		}
	}
}

// mountedClaims names the claims that planClaimsOf decides about.
func (p *planner) mountedClaims() map[string]bool {
	mounted := map[string]bool{}
	for _, pod := range p.pods {
		for i := range pod.Spec.Volumes {
			mounted[claimOf(pod.Pod, &pod.Spec.Volumes[i])] = true
		}
	}
	return mounted
}

// mayDisown tells whether a claim that no pod mounts may lose the StatefulSet as an owner. It may not if something else controls
// it. It may not either if it would then go with a former pod or StatefulSet: so far the present one has kept it from that.
func (p *planner) mayDisown(claim *corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.UID != p.Set.UID && (o.Controller != nil && *o.Controller || p.namesSet(&o) || o.Kind == "Pod")
	})
}

// namesClaim tells whether a claim is named as those of the StatefulSet are,
// whether there still is its claim template or not.
func (p *planner) namesClaim(claim string) bool {
	rest, _, ok := podplan.SplitOrdinal(claim)
	template, ok2 := strings.CutSuffix(rest, p.Set.Name)
	return ok && ok2 && len(template) > 1 && strings.HasSuffix(template, "-")
}

// retention tells who should own the claims of a pod.
func (p *planner) retention(pod *pod) (set, ofPod bool) {
	_, whenScaled := p.retentionPolicy()
	ofPod = whenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType && p.scaledDown(pod)
	return p.setOwnsClaims() && !ofPod, ofPod
}

// retentionPolicy is the spec's. What it leaves open is not Delete. (STS-25)
func (s *Snapshot) retentionPolicy() (whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) {
	policy := s.Set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || s.Features.NoAutoDeleteClaims {
		return "", ""
	}
	return policy.WhenDeleted, policy.WhenScaled
}

// setOwnsClaims tells whether claims go with the StatefulSet.
func (s *Snapshot) setOwnsClaims() bool {
	whenDeleted, _ := s.retentionPolicy()
	return whenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// claimOwner makes the reference plain: who owns a claim does not control it.
func claimOwner(owner metav1.OwnerReference) metav1.OwnerReference {
	owner.Controller, owner.BlockOwnerDeletion = nil, nil
	return owner
}

// namesSet tells whether an owner has the name of the StatefulSet.
func (p *planner) namesSet(owner *metav1.OwnerReference) bool {
	return owner.Kind == "StatefulSet" && owner.Name == p.Set.Name && owner.APIVersion == v1beta1.SchemeGroupVersion.String()
}

// namesPod tells whether an owner has the name of a pod.
func namesPod(owner *metav1.OwnerReference, pod string) bool {
	return owner.Kind == "Pod" && owner.APIVersion == "v1" && owner.Name == pod
}

// goesWithFormerPod tells whether the owner of the claim is a pod that had the name of the new one. The garbage collector deletes
// the claim once it has noticed. (STS-5)
func goesWithFormerPod(claim *corev1.PersistentVolumeClaim, pod string) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return namesPod(&o, pod) })
}

// goesWithFormerSet tells whether the only owner of a claim is a StatefulSet that had the name before. The garbage collector
// deletes the claim once it has noticed.
func (p *planner) goesWithFormerSet(claim *corev1.PersistentVolumeClaim) bool {
	for i := range claim.OwnerReferences {
		if owner := &claim.OwnerReferences[i]; owner.UID == p.Set.UID || !p.namesSet(owner) {
			return false
		}
	}
	return len(claim.OwnerReferences) > 0
}

// newClaim makes a claim. Its labels are those that the selector matches, over those of the template if they are kept. If the
// StatefulSet owns its claims, it is the owner from the beginning. (STS-23, STS-38)
func (p *planner) newClaim(template *corev1.PersistentVolumeClaim, ordinal int) *corev1.PersistentVolumeClaim {
	claim := p.NewClaim(claimName(template.Name, p.Set.Name, ordinal), template)
	if p.Features.KeepClaimLabels {
		own := claim.Labels
		claim.Labels = map[string]string{}
		maps.Copy(claim.Labels, template.Labels)
		maps.Copy(claim.Labels, own)
	}
	if p.setOwnsClaims() {
		claim.OwnerReferences = []metav1.OwnerReference{claimOwner(p.Owner())}
	}
	return claim
}
