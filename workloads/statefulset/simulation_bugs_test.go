// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, simulated)
	plant("maxUnavailable is one too many", invariants.Availability, 0, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
		s.MaxUnavailable = ptr.To(intstr.FromInt32(3))
	}))
	plant("minReadySeconds is forgotten", invariants.Order, 20, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) { s.MinReadySeconds = nil }))
	plant("the partition is ignored", invariants.Partition, 13, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) { s.Partition = nil }))
	plant("paused is ignored", invariants.Paused, 26, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) { s.Paused = false }))
	plant("InPlaceOnly recreates", invariants.Needless, 9, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
		s.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
	}))
	plant("OnDelete is taken for RollingUpdate", invariants.Needless, 32, inSpec(func(s *v1beta1.StatefulSetSpec) {
		s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
	}))
	plant("OrderedReady is taken for Parallel", invariants.Order, 1, inSpec(func(s *v1beta1.StatefulSetSpec) {
		s.PodManagementPolicy = appsv1.ParallelPodManagement
	}))
	plant("scaleStrategy.maxUnavailable is ignored", invariants.ScaleRate, 4, inSpec(func(s *v1beta1.StatefulSetSpec) { s.ScaleStrategy = nil }))
	plant("reserved ordinals are ignored", invariants.Identity, 11, inSpec(func(s *v1beta1.StatefulSetSpec) { s.ReserveOrdinals, s.ReserveOrdinalRanges = nil, nil }))
	plant("the preDelete hook is skipped", invariants.Hooks, 3, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.PreDelete = nil }))
	plant("the inPlaceUpdate hook is skipped", invariants.Hooks, 8, inHooks(func(l *lifecyclev1alpha1.Lifecycle) { l.InPlaceUpdate = nil }))
	plant("claims go with the set against the policy", invariants.Claims, 1, inSpec(func(s *v1beta1.StatefulSetSpec) {
		s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Delete"}
	}))
	plant("claims go with pods against the policy", invariants.Claims, 0, inSpec(func(s *v1beta1.StatefulSetSpec) {
		s.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: "Delete"}
	}))
	plant("claims of pods that are scaled in are deleted", invariants.Claims, 6, bug{Reconciler: func(r Reconciler) {
		kind := controller.KindOf(r)
		apply, claims := kind.Apply, kind.Writer.(*apply.Writer).Claims
		kind.Apply = func(ctx context.Context, s *Snapshot, p *Plan) (time.Duration, error) {
			for _, d := range p.Delete {
				if claim := s.Claims["data-"+d.Pod.Name]; claim != nil && d.For == rollout.DeleteForScale {
					_, _ = claims.Delete(ctx, claim)
				}
			}
			return apply(ctx, s, p)
		}
	}})
	plant("a claim that is about to go is used again", invariants.Claims, 11, misreading(func(s *Snapshot) {
		for _, claim := range s.Claims {
			claim.OwnerReferences, claim.DeletionTimestamp = nil, nil
		}
	}).While(scaleOften))
	plant("pods of others are taken for its own", invariants.Ownership, 3, misreading(func(s *Snapshot) {
		for _, pod := range s.Pods {
			pod.OwnerReferences = []metav1.OwnerReference{ownerReference(s.Set)}
		}
	}))
	plant("deletions do not name the UID", invariants.Ownership, 0, onWire(simulation.SpoilDeletions("{}")).While(takeNames))
	plant("the status does not wait for a spec that is not reached", invariants.Status, 0, inStatus(func(status *v1beta1.StatefulSetStatus) { statuses.Reach(status) }))
	plant("consumers wait for pods that the partition holds back", invariants.Status, 13, inPlan(waitBeyondPartition))
	plant("pods are deleted at once", invariants.Identity, 5, onWire(simulation.SpoilDeletions(`{"gracePeriodSeconds":0}`)))
	plant("a pod mounts the claim of another", invariants.Identity, 0, inPlan(func(_ *Snapshot, p *Plan) {
		for _, c := range p.Create {
			for _, volume := range c.Pod.Spec.Volumes {
				if volume.PersistentVolumeClaim != nil {
					volume.PersistentVolumeClaim.ClaimName = "data-web-0"
				}
			}
		}
	}))
	plant("an update in place changes a label more", invariants.InPlace, 0, inPatches(func(p *podpatch.Patch) { p.SetLabel("touched", "true") }))
	plant("an update in place leaves pods in service", invariants.InPlace, 0, inPatches(func(p *podpatch.Patch) { p.Conditions = nil }))
	plant("an update in place gives the wrong image", invariants.InPlace, 0, inPatches(func(p *podpatch.Patch) {
		for container := range p.Images {
			p.Images[container] = "nginx:latest"
		}
	}))
	plant("the status counts one too many", invariants.Status, 0, inStatus(func(status *v1beta1.StatefulSetStatus) { status.AvailableReplicas++ }))
	plant("the status is not written", invariants.Settled, 0, bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Writer.(*apply.Writer).Merge = func(context.Context, types.NamespacedName, []byte, ...string) (string, error) { return "", nil }
	}})
	plant("nothing is enqueued when minReadySeconds have passed", invariants.Settled, 6, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 }))
	plant("the partition is one too small", invariants.Partition, 13, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
		s.Partition = ptr.To(max(ptr.Deref(s.Partition, 0)-1, 0))
	}))
	plant("minReadySeconds is one too small", invariants.Order, 33, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
		s.MinReadySeconds = ptr.To(max(ptr.Deref(s.MinReadySeconds, 0)-1, 0))
	}))
	plant("a reserved ordinal is one too high", invariants.Identity, 11, inSpec(func(s *v1beta1.StatefulSetSpec) {
		for i := range s.ReserveOrdinals {
			s.ReserveOrdinals[i]++
		}
	}))
	plant("the current revision moves when the first pod is updated", invariants.Status, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if p.Status != nil && p.Status.UpdatedReplicas > 0 {
			p.Status.CurrentRevision, p.Status.CurrentReplicas = p.Status.UpdateRevision, p.Status.UpdatedReplicas
		}
	}))
	plant("the current revision moves while held-back pods are missing", invariants.Status, 13, inPlan(func(_ *Snapshot, p *Plan) {
		if s := p.Status; s != nil && s.UpdatedReplicas == s.Replicas && s.ReadyReplicas == s.Replicas {
			s.CurrentRevision, s.CurrentReplicas = s.UpdateRevision, s.UpdatedReplicas
		}
	}))
	plant("of two timers the later one is kept", invariants.Settled, 34, inPlan(keepLater).While(waitLong))
	plant("a claim loses the owner that the policy names", invariants.Claims, 0, inSpec(func(s *v1beta1.StatefulSetSpec) {
		s.PersistentVolumeClaimRetentionPolicy = nil
	}))
	plant("a pod that is scaled in leaves its claim", invariants.Claims, 6, inPlan(func(_ *Snapshot, p *Plan) {
		p.PatchClaims = nil
		for i := range p.Delete {
			p.Delete[i].ChangeClaims = nil
		}
	}))
	plant("the lowest pod that is left over goes first", invariants.Order, 5, inPlan(deleteLowest))
	plant("pods that their hooks release are all deleted at once", invariants.Order, 28, inPlan(deleteReleased).While(holdDeletions))
	plant("history forgets revisions of pods that leave", invariants.History, 2, inPlan(forgetLeaving).While(edit("leave")))
	plant("revisions are deleted as they may have become", invariants.History, 13, onWire(simulation.SpoilDeletions("{}")))
	plant("a planner panics", invariants.Calm, 13, inRolling(func(s *v1beta1.RollingUpdateStatefulSetStrategy) {
		if s.Partition != nil && *s.Partition > 0 {
			panic("planted")
		}
	}))
}

// keepLater keeps the last moment at which a pod becomes available, and not the first.
func keepLater(s *Snapshot, p *Plan) {
	seconds := int32(0)
	if r := s.Set.Spec.UpdateStrategy.RollingUpdate; r != nil {
		seconds = ptr.Deref(r.MinReadySeconds, 0)
	}
	for _, pod := range s.Pods {
		if in, will := readiness.ReadyIn(pod, seconds, s.Now); will && in > 0 && p.RequeueAfter > 0 {
			p.RequeueAfter = max(p.RequeueAfter, in)
		}
	}
}

// waitLong lets pods become available at moments that lie apart.
func waitLong(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) == 0 {
		u.DeletePod(pod.Name, new(int64))
		return
	}
	u.Edit(`{"spec":{"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"minReadySeconds":60}}}}`)
}

// deleteLowest scales in from the wrong end.
func deleteLowest(s *Snapshot, p *Plan) {
	for i := range p.Delete {
		for _, pod := range s.Pods {
			if p.Delete[i].For == rollout.DeleteForScale && pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, s.Set) && leftOver(s, pod) && pod.Name < p.Delete[i].Pod.Name {
				p.Delete[i].Pod = pod
			}
		}
	}
}

func leftOver(s *Snapshot, pod *corev1.Pod) bool {
	ordinal, _ := ordinalOf(s.Set.Name, pod.Name)
	window, _ := s.newWindow()
	return !window.contains(ordinal)
}

// deleteReleased deletes all pods that were prepared for their deletion and are
// held no more, in whatever order.
func deleteReleased(s *Snapshot, p *Plan) {
	planned := map[types.UID]bool{}
	for _, d := range p.Delete {
		planned[d.Pod.UID] = true
	}
	for _, pod := range s.Pods {
		if pod.Labels[lifecyclev1alpha1.StateLabel] == string(lifecyclev1alpha1.StatePreparingDelete) && pod.DeletionTimestamp == nil &&
			pod.Labels[simulation.HoldDelete] == "" && metav1.IsControlledBy(pod, s.Set) && !planned[pod.UID] {
			p.Delete = append(p.Delete, rollout.PodDeletion{Pod: pod, For: rollout.DeleteForScale})
		}
	}
}

// holdDeletions scales in and out again while hooks hold pods, and lets them go.
func holdDeletions(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil && r.IntN(2) == 0 {
		u.AnswerHook(pod)
		return
	}
	edit("holdDeletions")(u, r)
}

// forgetLeaving drops revisions of pods that are on their way out.
func forgetLeaving(s *Snapshot, p *Plan) {
	misread := *s
	misread.Pods = slices.DeleteFunc(slices.Clone(s.Pods), func(pod *corev1.Pod) bool { return leftOver(s, pod) || pod.DeletionTimestamp != nil })
	p.Revisions.Delete = NewPlan(&misread).Revisions.Delete
}

// bug is planted into a controller.
type bug = simulation.Spoil[Options, Reconciler]

// inPlan plants a bug into plans, inStatus into what a status says, misreading into what planners see, and onWire into requests.
var (
	inPlan     = planted.InPlan[Options, Snapshot, Plan]
	inStatus   = planted.InStatus[Options, Snapshot, Plan, v1beta1.StatefulSetStatus]
	misreading = planted.MisreadAll[Options, Snapshot, Plan]
	onWire     = simulation.OnWire[Options, Reconciler]
)

// scaleOften gives pods up, and wants them again.
func scaleOften(u *simulation.User, r *rand.Rand) {
	u.Edit(simulation.Pick(`{"spec":{"replicas":%v}}`, 1, 4)(r))
}

// takeNames gives pods up, and puts strangers in the places of those that are to go.
func takeNames(u *simulation.User, r *rand.Rand) {
	if doomed := u.Doomed(); doomed != nil {
		u.TakeName(doomed)
		return
	}
	scaleOften(u, r)
}

// waitBeyondPartition has consumers wait as if there were no partition.
func waitBeyondPartition(s *Snapshot, p *Plan) {
	misread := *s
	misread.Set = s.Set.DeepCopy()
	if r := misread.Set.Spec.UpdateStrategy.RollingUpdate; r != nil {
		r.Partition = nil
	}
	if other := NewPlan(&misread).Status; p.Status != nil && other != nil {
		p.Status.Conditions = other.Conditions
	}
}

// inSpec plants a bug into how planners read the spec.
func inSpec(spoil func(*v1beta1.StatefulSetSpec)) bug {
	return misreading(func(s *Snapshot) { spoil(&s.Set.Spec) })
}

func inRolling(spoil func(*v1beta1.RollingUpdateStatefulSetStrategy)) bug {
	return inSpec(func(spec *v1beta1.StatefulSetSpec) {
		if spec.UpdateStrategy.RollingUpdate != nil {
			spoil(spec.UpdateStrategy.RollingUpdate)
		}
	})
}

// inPatches plants a bug into how pods are updated in place.
func inPatches(spoil func(*podpatch.Patch)) bug {
	return inPlan(func(_ *Snapshot, p *Plan) {
		for _, patch := range p.Patch {
			if patch.Kind == rollout.PatchUpdateInPlace {
				spoil(patch.Patch)
			}
		}
	})
}

func inHooks(spoil func(*lifecyclev1alpha1.Lifecycle)) bug {
	return inSpec(func(spec *v1beta1.StatefulSetSpec) {
		if spec.Lifecycle != nil {
			spoil(spec.Lifecycle)
		}
	})
}
