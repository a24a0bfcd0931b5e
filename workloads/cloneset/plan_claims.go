// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// claims are the claims of pods.
type claims struct {
	of    map[string][]*corev1.PersistentVolumeClaim // that a pod uses, or the next one may, by instance id
	dying map[string]bool                            // instance ids that have a terminating claim
}

// ofPod returns the claims of a pod.
func (c *claims) ofPod(pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	if len(c.of) == 0 { // most CloneSets have none
		return nil
	}
	return c.of[instanceID(pod)]
}

// planClaims groups the claims by instance, and disowns those that no pod to come may use. The claims of a pod that is released
// become that pod's. If claims are not to be reused, those whose pod is gone are deleted, and those of a pod that has ended
// become that pod's. (CS-18, CS-36)
func (p *planner) planClaims() (grouped claims) {
	if len(p.Claims) == 0 {
		return grouped
	}
	grouped = claims{of: map[string][]*corev1.PersistentVolumeClaim{}, dying: map[string]bool{}}
	users, kept := p.claimUsers(), map[string]bool{}
	reuse := !p.Set.Spec.ScaleStrategy.DisablePVCReuse
	sorted := slices.SortedFunc(slices.Values(p.Claims), func(a, b *corev1.PersistentVolumeClaim) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, claim := range sorted {
		id := claim.Labels[v1alpha1.CloneSetInstanceIDLabel]
		if id == "" {
			continue
		}
		user := users.of(claim)
		switch {
		case claim.DeletionTimestamp != nil:
			grouped.dying[id] = true
		case user.release != nil:
			p.plan.PatchClaims = append(p.plan.PatchClaims, p.giveTo(claim, user.release.Pod))
			user.release.getsClaims = true
		case reuse || user.active:
			grouped.of[id] = append(grouped.of[id], claim)
		case user.ended != nil:
			p.plan.PatchClaims = append(p.plan.PatchClaims, p.giveTo(claim, user.ended))
		case kept[id] || p.Unused[id] && len(kept) < int(p.plan.Diff.ScaleUp): // deleted, it would only be made again (CS-39)
			kept[id] = true
			grouped.of[id] = append(grouped.of[id], claim)
		default:
			p.plan.DeleteClaims = append(p.plan.DeleteClaims, claim)
		}
	}
	return grouped
}

// claimUser is the pod of a claim: an active one that stays, one that is given
// up, or one that is not active. It is empty if there is none.
type claimUser struct {
	active  bool
	release *pod
	ended   *corev1.Pod
}

// claimUsers finds the users of claims by the names of the claims that pods mount, and by their ids. The ids alone do not do: any
// client may change the label that holds one.
type claimUsers struct {
	mounts, ids map[string]claimUser
}

func (p *planner) claimUsers() claimUsers {
	users := claimUsers{map[string]claimUser{}, map[string]claimUser{}}
	for _, ended := range p.inactive {
		users.add(ended, claimUser{ended: ended})
	}
	for _, pod := range p.released {
		if p.JustMade(pod.Pod) { // it is deleted, and the next pod uses them
			users.add(pod.Pod, claimUser{active: true})
			continue
		}
		users.add(pod.Pod, claimUser{release: pod})
	}
	for _, pod := range p.pods {
		users.add(pod.Pod, claimUser{active: true})
	}
	return users
}

func (u claimUsers) add(pod *corev1.Pod, user claimUser) {
	u.ids[instanceID(pod)] = user
	for i := range pod.Spec.Volumes {
		if claim := pod.Spec.Volumes[i].PersistentVolumeClaim; claim != nil {
			u.mounts[claim.ClaimName] = user
		}
	}
}

func (u claimUsers) of(claim *corev1.PersistentVolumeClaim) claimUser {
	if user, mounted := u.mounts[claim.Name]; mounted {
		return user
	}
	return u.ids[claim.Labels[v1alpha1.CloneSetInstanceIDLabel]]
}

// planLackingClaims creates claims that were taken from under pods that no
// node has: those pods could never be scheduled. A pod that is about to be deleted
// needs none; it would be left over.
func (p *planner) planLackingClaims() {
	if len(p.Set.Spec.VolumeClaimTemplates) == 0 {
		return
	}
	var have map[string]bool // made if a pod waits at all
	for _, pod := range p.pods {
		if pod.Spec.NodeName != "" || pod.Status.Phase != corev1.PodPending || pod.Deleted {
			continue
		}
		id, ok := strings.CutPrefix(pod.Name, p.Set.Name+"-")
		if !ok {
			continue
		}
		if have == nil {
			have = make(map[string]bool, len(p.Claims))
			for _, claim := range p.Claims {
				have[claim.Name] = true
			}
		}
		for i := range p.Set.Spec.VolumeClaimTemplates {
			template := &p.Set.Spec.VolumeClaimTemplates[i]
			if name := p.claimName(template, id); !have[name] && mounts(pod.Pod, name) {
				p.plan.CreateClaims = append(p.plan.CreateClaims, p.newClaim(template, id))
			}
		}
	}
}

// giveTo replaces the CloneSet as the owner of a claim by a pod.
func (p *planner) giveTo(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) rollout.ClaimPatch {
	return releaseClaim(claim, p.Set.UID, pod)
}

// releaseClaim removes an owner of a claim, in favour of a pod if that is not nil.
func releaseClaim(claim *corev1.PersistentVolumeClaim, owner types.UID, pod *corev1.Pod) rollout.ClaimPatch {
	owners := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool { return o.UID == owner })
	if pod != nil {
		ref := *metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))
		ref.BlockOwnerDeletion = nil
		owners = append(owners, ref)
	}
	return rollout.ClaimPatch{Claim: claim, Owners: owners}
}

// mounts tells whether a pod mounts a claim.
func mounts(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

func instanceID(pod *corev1.Pod) string {
	return pod.Labels[v1alpha1.CloneSetInstanceIDLabel]
}
