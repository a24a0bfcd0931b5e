// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// deleteOwner deletes the workload. In the background it is gone at once, and
// collect deletes its dependents. In the foreground Collect deletes its
// dependents first, and the workload stays as long as one of them is there.
func (w *Cluster) deleteOwner(foreground bool) {
	w.ownerGone, w.ownerEnding = !foreground, foreground
}

// OwnerEnding tells whether the workload is being deleted in the foreground.
func (w *Cluster) OwnerEnding() bool { return w.ownerEnding }

// OwnerGone tells whether the workload was deleted and is gone.
func (w *Cluster) OwnerGone() bool { return w.ownerGone }

// collect lets the garbage collector act once, and returns false when it has
// nothing to do. An object is deleted when it has owners and all of them are
// gone, and loses the owners that are gone when others are left. A claim that
// is terminating and that no pod uses any more is gone.
func (w *Cluster) collect() (acted bool) {
	for _, pod := range slices.Clone(w.Pods) {
		live, solid := w.liveOwners(pod.OwnerReferences)
		switch {
		case pod.DeletionTimestamp != nil:
		case len(pod.OwnerReferences) > 0 && !solid:
			w.remove(pod.Name)
			acted = true
		case len(live) < len(pod.OwnerReferences):
			w.Edit(pod.Name, func(p *corev1.Pod) { p.OwnerReferences = live })
			acted = true
		}
	}
	for _, claim := range slices.Clone(w.Claims) {
		live, solid := w.liveOwners(claim.OwnerReferences)
		switch {
		case claim.DeletionTimestamp != nil && w.inUse(claim.Name):
		case claim.DeletionTimestamp != nil, len(claim.OwnerReferences) > 0 && !solid:
			w.removeClaim(claim.Name)
			acted = true
		case len(live) < len(claim.OwnerReferences):
			w.ownClaim(claim, live)
			acted = true
		}
	}
	if w.ownerEnding && !w.hasDependents() {
		w.deleteOwner(false)
		acted = true
	}
	return acted
}

// liveOwners returns the owners that exist, and whether one of them keeps its
// dependents. What is neither the workload nor a pod is taken to exist.
func (w *Cluster) liveOwners(owners []metav1.OwnerReference) (live []metav1.OwnerReference, solid bool) {
	for _, owner := range owners {
		switch {
		case owner.UID == w.Owner.UID:
			if !w.ownerGone {
				live, solid = append(live, owner), solid || !w.ownerEnding
			}
		case owner.Kind != "Pod" || slices.ContainsFunc(w.Pods, func(p *corev1.Pod) bool { return p.UID == owner.UID }):
			live, solid = append(live, owner), true
		}
	}
	return live, solid
}

func (w *Cluster) hasDependents() bool {
	return refer(w.Pods, w.Owner.UID) || refer(w.Claims, w.Owner.UID)
}

func refer[T metav1.Object](objects []T, owner types.UID) bool {
	return slices.ContainsFunc(objects, func(o T) bool {
		return slices.ContainsFunc(o.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner })
	})
}
