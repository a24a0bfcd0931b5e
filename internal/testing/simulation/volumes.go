// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Storage classes of histories in which volumes grow.
const (
	// ClassOnline grows volumes and their file systems under running pods.
	ClassOnline = "online"
	// ClassOffline grows a file system when a new pod mounts the volume.
	ClassOffline = "offline"
	// ClassMended lets no volume grow until the users push.
	ClassMended = "mended"
	// ClassRigid lets no volume grow.
	ClassRigid = "rigid"
	// ClassGone does not exist, as any other does not.
	ClassGone = "gone"
)

// largest is the size beyond which the driver has no room: such a resize fails each time.
var largest = resource.MustParse("20Gi")

// StorageClass returns a storage class as the API server has it now.
func (p *Process) StorageClass(_ context.Context, name string) (*storagev1.StorageClass, error) {
	return p.history.storageClass(name)
}

func (h *history) storageClass(name string) (*storagev1.StorageClass, error) {
	class := &storagev1.StorageClass{}
	switch class.Name = name; name {
	case ClassOnline, ClassOffline:
		class.AllowVolumeExpansion = ptr.To(true)
	case ClassMended:
		class.AllowVolumeExpansion = ptr.To(h.classesMended)
	case ClassRigid:
	default:
		return nil, apierrors.NewNotFound(storagev1.Resource("storageclasses"), name)
	}
	return class, nil
}

// expandable are the storage classes that let volumes grow.
func (h *history) expandable() (classes []string) {
	for _, name := range []string{ClassOnline, ClassOffline, ClassMended} {
		if class, err := h.storageClass(name); err == nil && *class.AllowVolumeExpansion {
			classes = append(classes, name)
		}
	}
	return classes
}

// MendClasses lets volumes of ClassMended grow from now on.
func (u *User) MendClasses() { u.history.classesMended = true }

// refuseResize returns the answer to a change of a claim that the API server does not accept, nil if it does. It does not accept
// another size that is not above that of the volume. It does not accept a larger one either if the class does not allow volumes to
// grow.
func (h *history) refuseResize(r *request) error {
	var patch struct {
		Spec *corev1.PersistentVolumeClaimSpec
	}
	claim := h.claimNamed(r.Name)
	if !h.workload.VolumesGrow || r.Resource != claims || r.Verb != "patch" || claim == nil || json.Unmarshal(r.Body, &patch) != nil || patch.Spec == nil {
		return nil
	}
	asks, had := patch.Spec.Resources.Requests.Storage(), claim.Spec.Resources.Requests.Storage()
	switch class, err := h.storageClass(ptr.Deref(claim.Spec.StorageClassName, "")); {
	case asks.Cmp(*claim.Status.Capacity.Storage()) <= 0 && asks.Cmp(*had) != 0:
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim").GroupKind(), r.Name, nil)
	case asks.Cmp(*had) > 0 && (err != nil || !ptr.Deref(class.AllowVolumeExpansion, false)):
		return apierrors.NewForbidden(corev1.Resource(claims), r.Name, fmt.Errorf("the storage class does not support resize"))
	}
	return nil
}

func (h *history) claimNamed(name string) *corev1.PersistentVolumeClaim {
	claim, _ := h.records[claims].objects[name].(*corev1.PersistentVolumeClaim)
	return claim
}

func (h *history) actVolume(r *rand.Rand) {
	list := sorted[*corev1.PersistentVolumeClaim](h.records[claims].objects)
	if len(list) == 0 {
		return
	}
	h.drive(list[r.IntN(len(list))], r.IntN(3) > 0)
	h.settle()
}

// drive has the driver act for a claim: it makes the volume, or grows it. It fails if it does not work, or the volume is to be too large.
func (h *history) drive(claim *corev1.PersistentVolumeClaim, works bool) {
	asks, has := claim.Spec.Resources.Requests.Storage(), claim.Status.Capacity.Storage()
	pending := slices.ContainsFunc(claim.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
		return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending
	})
	status := corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: corev1.ResourceList{corev1.ResourceStorage: *asks}}
	switch {
	case claim.Status.Phase != corev1.ClaimBound:
		h.reportVolume(claim, "binds", status)
	case asks.Cmp(*has) <= 0:
	case !works || asks.Cmp(largest) > 0:
		status.Capacity, status.Conditions = claim.Status.Capacity, []corev1.PersistentVolumeClaimCondition{{
			Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue, Message: "no room for " + asks.String()}}
		h.reportVolume(claim, "fails to grow", status)
	case ptr.Deref(claim.Spec.StorageClassName, "") == ClassOffline && !pending:
		h.mounters[claim.UID] = h.mounterOf(claim)
		status.Capacity, status.Conditions = claim.Status.Capacity, []corev1.PersistentVolumeClaimCondition{{
			Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue, Message: "waiting for user to (re-)start a pod"}}
		h.reportVolume(claim, "grows but for the file system", status)
	case pending && (h.mounterOf(claim) == "" || h.mounterOf(claim) == h.mounters[claim.UID]): // until another pod mounts it
	default:
		h.reportVolume(claim, "grows", status)
	}
}

// mounterOf is the UID of the pod on a node that mounts a claim; empty if none does.
func (h *history) mounterOf(claim *corev1.PersistentVolumeClaim) types.UID {
	for _, pod := range h.podList() {
		if pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name
		}) {
			return pod.UID
		}
	}
	return ""
}

// reportVolume writes what the driver has come to, unless the claim says so already.
func (h *history) reportVolume(claim *corev1.PersistentVolumeClaim, what string, status corev1.PersistentVolumeClaimStatus) {
	data, err := json.Marshal(map[string]any{"status": map[string]any{"phase": status.Phase, "capacity": status.Capacity, "conditions": status.Conditions}})
	h.must(err)
	before := h.server.NewestVersion()
	_, err = h.kube.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(context.Background(), claim.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if h.server.NewestVersion() != before {
		h.say("driver: claim %s %s", claim.Name, what)
	}
	h.must(err)
}
