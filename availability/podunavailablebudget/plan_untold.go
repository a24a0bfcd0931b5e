// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/workload"
)

// foreignAfter is how old a pod is when what it comes from is known, if caches follow. (PUB-47)
const foreignAfter = time.Minute

// untell lists the pods that name the budget and come from another workload, if no other budget is about them. It does not count them,
// and would judge them all the same. (PUB-47)
func (s *Snapshot) untell(p *Plan) {
	if s.Budget.Spec.TargetReference == nil {
		return
	}
	mayCount := budget.MayCountBy(s.Budget)
	for _, pod := range s.seen() {
		switch {
		case pod.Related != s.Budget.Name || !mayCount(pod.Pod) || s.Workloads.Names(pod.Pod, s.Budget) || s.mayBeAdopted(pod.Pod):
		case !s.Workloads.AreKnown(pod.Pod): // a cache may be behind
			if left := pod.CreationTimestamp.Add(foreignAfter).Sub(s.Now); left > 0 && (p.RequeueAfter == 0 || left < p.RequeueAfter) {
				p.RequeueAfter = left
			}
		case !s.othersAre(pod.Pod):
			p.Untell = append(p.Untell, pod.Pod)
		}
	}
	slices.SortFunc(p.Untell, byName)
}

// mayBeAdopted tells whether nothing controls the ReplicaSet of a pod. It is left behind by a Deployment that was deleted without it,
// and one that is made again under that name takes it. (PUB-47)
func (s *Snapshot) mayBeAdopted(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return false
	}
	w := s.Workloads[ref.UID]
	return w != nil && w.GroupKind == workload.ReplicaSets && w.Controller == nil
}

// othersAre tells whether another budget is about a pod: that one writes its own name.
func (s *Snapshot) othersAre(pod *corev1.Pod) bool {
	return slices.ContainsFunc(s.Others, func(other *v1alpha1.PodUnavailableBudget) bool { return s.is(other, pod) })
}

// is tells whether a budget is about a pod, as far as is known what that comes from.
func (s *Snapshot) is(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod) bool {
	return budget.Matches(b, pod, s.Workloads.Of(pod)) || s.Workloads.Names(pod, b)
}
