// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

// MostCreations is how many pods a plan creates. More are missing when the
// workload is new and very large, or when a user mistyped a number: the plan
// after this one goes on.
const MostCreations = 1000

// PodCreation is a pod to create, after the claims that it lacks.
type PodCreation struct {
	// Pod is the pod to create; never nil.
	Pod *corev1.Pod
	// Claims are those that do not exist yet, and are created before the pod. Nil: it lacks none.
	Claims []*corev1.PersistentVolumeClaim
}

// PodPatch is a change to a pod.
type PodPatch struct {
	// Pod is the pod as it was observed, shared with the caches.
	Pod *corev1.Pod
	// Patch is the change; its Writes are the requests, each to be sent only
	// when the one before it succeeded.
	Patch *podpatch.Patch
	// Kind says what the patch is for.
	Kind PatchKind
	// ForUpdate tells that it begins an update, in place or by recreation. It is of the
	// kind PatchUpdateInPlace, or has the hook asked to prepare the pod for the update.
	ForUpdate bool
	// InService tells that it leaves the pod in service: no budget has to allow it.
	InService bool
}

// Tries tells whether the API server may refuse the patch because of what the update of the
// pod asks for. Such a patch begins the update, or requests a resize that is left of it.
func (p *PodPatch) Tries() bool { return p.ForUpdate || p.Patch != nil && len(p.Patch.Resources) > 0 }

// PatchKind says what a patch of a pod is for.
type PatchKind string

// What patches are for.
const (
	// PatchRefresh records what has become of a pod: an update that is
	// complete or goes on with its next containers, a hook that is met.
	PatchRefresh PatchKind = "Refresh"
	// PatchUpdateInPlace starts an in-place update.
	PatchUpdateInPlace PatchKind = "UpdateInPlace"
	// PatchPrepare asks the owner of a hook to prepare a pod for its update or deletion.
	PatchPrepare PatchKind = "Prepare"
	// PatchCancelDelete cancels the deletion of a pod that was being prepared for it.
	PatchCancelDelete PatchKind = "CancelDelete"
	// PatchIdentify puts back the labels that name a pod, beside what
	// PatchRefresh does.
	PatchIdentify PatchKind = "Identify"
	// PatchAdopt adopts a pod that has no controller.
	PatchAdopt PatchKind = "Adopt"
	// PatchRelease releases a pod whose labels no longer match the selector.
	PatchRelease PatchKind = "Release"
)

// AffectsAvailability tells whether a patch of this kind changes the numbers that
// the rest of its plan was computed from. Such a patch takes a pod out of service, or
// cancels that. The other kinds record what is so already.
func (k PatchKind) AffectsAvailability() bool {
	return k == PatchUpdateInPlace || k == PatchPrepare || k == PatchCancelDelete
}
