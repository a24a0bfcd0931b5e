// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stage is what a plan does about pods at one time. The zero Stage does nothing.
type Stage struct {
	// Create lists the pods to create, in order.
	Create []PodCreation
	// Delete lists the pods to delete, in order.
	Delete []PodDeletion
	// Patch lists the pods to change, in order.
	Patch []PodPatch
}

// Empty tells whether there is nothing to do.
func (s *Stage) Empty() bool { return len(s.Create)+len(s.Delete)+len(s.Patch) == 0 }

// Stages is what a plan does about pods: one stage, and another one in case
// that the first comes to nothing. What is planned is not done: a quota or an
// admission webhook may refuse to create and to delete for as long as it likes.
type Stages struct {
	// Stage is applied first.
	Stage

	// Otherwise is planned from the same numbers, as if Stage changed nothing. So
	// it is applied when that has turned out to be true. That is, no creation or deletion of
	// Stage was made, nor a patch with [PatchKind.AffectsAvailability], and of none
	// it is unknown whether it was. It is empty if Stage makes no such change, since
	// all of the plan is in Stage then.
	Otherwise Stage
}

// PodDeletion is a pod to delete.
type PodDeletion struct {
	// Pod is the pod as it was observed, shared with the caches.
	Pod *corev1.Pod
	// For says why the pod is deleted.
	For DeletionReason
	// Unchanged says that the pod is deleted because of the state in which it
	// was observed: if it has changed since, it is not deleted.
	Unchanged bool
	// ChangeClaims lists what to change about claims before the pod is deleted.
	// A claim that goes with its pod has to say so before the pod is gone.
	ChangeClaims []ClaimPatch
	// DeleteClaims lists the claims to delete after the pod.
	DeleteClaims []*corev1.PersistentVolumeClaim
}

// DeletionReason says why a pod is deleted.
type DeletionReason string

// Why pods are deleted.
const (
	// DeleteForScale: the pod is not wanted.
	DeleteForScale DeletionReason = "Scale"
	// DeleteForUpdate: the pod is recreated at another revision.
	DeleteForUpdate DeletionReason = "Update"
	// DeleteFailed: the pod has ended, and is recreated.
	DeleteFailed DeletionReason = "Failed"
	// DeleteUnselected: the pod was created a moment ago, and the selector does not match it: something has changed its labels.
	DeleteUnselected DeletionReason = "Unselected"
)

// ClaimPatch changes who owns a claim, and so with whom it is removed.
type ClaimPatch struct {
	// Claim is the claim as it was observed, shared with the caches.
	Claim *corev1.PersistentVolumeClaim
	// Owners is the complete list of owners that the claim shall have.
	Owners []metav1.OwnerReference
}
