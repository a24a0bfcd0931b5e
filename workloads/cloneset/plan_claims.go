package cloneset

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planClaims groups the claims by instance and, where claims are not to be
// reused, lets those go whose pod is gone. (rules 18 and 36)
func (p *planner) planClaims() {
	if len(p.Claims) == 0 {
		return
	}
	p.claims = map[string][]*corev1.PersistentVolumeClaim{}
	inactive := map[string]*corev1.Pod{}
	activeID := map[string]bool{}
	for _, pod := range p.inactive {
		inactive[instanceID(pod)] = pod
	}
	for _, pod := range p.pods {
		activeID[instanceID(pod.Pod)] = true
	}
	claims := slices.SortedFunc(slices.Values(p.Claims), func(a, b *corev1.PersistentVolumeClaim) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, claim := range claims {
		id := claim.Labels[v1alpha1.CloneSetInstanceIDLabel]
		if claim.DeletionTimestamp != nil || id == "" {
			continue
		}
		if p.Set.Spec.ScaleStrategy.DisablePVCReuse && !activeID[id] {
			if pod := inactive[id]; pod != nil {
				p.plan.HandOver = append(p.plan.HandOver, p.handOver(claim, pod))
			} else {
				p.plan.DeleteClaims = append(p.plan.DeleteClaims, claim)
			}
			continue
		}
		p.claims[id] = append(p.claims[id], claim)
	}
}

// handOver replaces the CloneSet as the owner of a claim by a pod.
func (p *planner) handOver(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) rollout.ClaimPatch {
	owners := slices.DeleteFunc(slices.Clone(claim.OwnerReferences), func(o metav1.OwnerReference) bool { return o.UID == p.Set.UID })
	owner := *metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))
	owner.BlockOwnerDeletion = nil
	return rollout.ClaimPatch{Claim: claim, Owners: append(owners, owner)}
}

func instanceID(pod *corev1.Pod) string {
	return pod.Labels[v1alpha1.CloneSetInstanceIDLabel]
}
