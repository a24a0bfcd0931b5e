// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// bug is a bug of the controller.
type bug = simulation.Spoil[Options, Reconciler]

// TestSimulationFindsBugs plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugs(t *testing.T) {
	const annotation = v1alpha1.SidecarSetHashAnnotation
	plant := simulation.Plant(t, simulated)
	plant("maxUnavailable is one too many", invariants.Availability, 3, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, matched int) {
		s.MaxUnavailable = ptr.To(intstr.FromInt(scaled(s.MaxUnavailable, 1, matched, true) + 1))
	}))
	plant("maxUnavailable is rounded down", invariants.Settled, 0, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, matched int) {
		s.MaxUnavailable = ptr.To(intstr.FromInt(scaled(s.MaxUnavailable, 1, matched, false)))
	}).While(updateWith(`"10%"`)))
	plant("pods of an update before are not counted", invariants.Availability, 61, inPods(forgetState).While(updateInTurn))
	plant("the partition is ignored", invariants.Partition, 22, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) { s.Partition = nil }))
	plant("the partition is one too small", invariants.Partition, 22, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, matched int) {
		s.Partition = ptr.To(intstr.FromInt(max(scaled(s.Partition, 0, matched, false)-1, 0)))
	}))
	plant("the partition is rounded up", invariants.Settled, 3, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, matched int) {
		s.Partition = ptr.To(intstr.FromInt(scaled(s.Partition, 0, matched, true)))
	}).While(updatePart))
	plant("the selector of the update is ignored", invariants.Partition, 24, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) { s.Selector = nil }))
	plant("paused is ignored", invariants.Paused, 19, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) { s.Paused = false }))
	plant("NotUpdate is ignored", invariants.Needless, 3, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) { s.Type = "" }).While(updateNone))
	plant("those that are ready for longer go first", invariants.Order, 0, inPods(readyInReverse).While(updateInTurn))
	plant("pods are not scattered", invariants.Order, 37, inStrategy(func(s *v1alpha1.SidecarSetUpdateStrategy, _ int) { s.ScatterStrategy = nil }).While(updateScattered))
	plant("the namespace is ignored", invariants.Ownership, 21, misreading(func(s *Snapshot) {
		s.Set.Spec.Namespace, s.Set.Spec.NamespaceSelector = "", nil
	}).While(updateElsewhere))
	plant("pods that cannot be updated in place are not told", invariants.Status, 12, inPlan(keepSilent(v1alpha1.SidecarSetNotUpgradable, "containers[")))
	plant("pods with another native sidecar are not told", invariants.Status, 31, inPlan(keepSilent(v1alpha1.SidecarSetNotUpgradable, "initContainers[")))
	plant("pods that lack the sidecars are not told", invariants.Status, 0, inPlan(keepSilent(v1alpha1.SidecarSetInjected, "")))
	plant("pods that lack the sidecars are forgotten", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil && p.Status.Selection != nil {
			p.Status.Selection.Since = metav1.NewTime(s.Now).Rfc3339Copy()
		}
	}))
	plant("pods that do not serve wait for others", invariants.Settled, 7, inPatches(func(s *Snapshot, p *rollout.PodPatch) bool {
		u := s.Set.Spec.UpdateStrategy.MaxUnavailable
		return p.Kind != rollout.PatchUpdateInPlace || scaled(u, 1, len(s.Pods), true) > 0
	}).While(updateWith(0, 3)))
	plant("what cannot be updated in place is", invariants.InPlace, 7, inPods(func(s *Snapshot, pod *corev1.Pod) {
		hashes, err := injection.HashesOf(s.Set)
		records, _ := injection.Records(pod, v1alpha1.SidecarSetHashWithoutImageAnnotation)
		if record, is := records[s.Set.Name]; is && err == nil {
			record.SidecarSetHash = hashes.WithoutImage
			records[s.Set.Name] = record
			annotatePod(pod, v1alpha1.SidecarSetHashWithoutImageAnnotation, records)
		}
	}))
	plant("the last container keeps its image", invariants.InPlace, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		if names := slices.Sorted(maps.Keys(p.Patch.Images)); len(names) > 1 && p.Kind == rollout.PatchUpdateInPlace {
			delete(p.Patch.Images, names[0])
		}
		return true
	}))
	plant("patches overwrite what others have written since", invariants.InPlace, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		p.Patch.IfUnchanged = false
		return true
	}))
	plant("records of other SidecarSets are lost", invariants.InPlace, 3, inPatches(func(s *Snapshot, p *rollout.PodPatch) bool {
		return onlyOwn(p, annotation, s.Set.Name)
	}))
	plant("states of other SidecarSets are lost", invariants.InPlace, 6, inPatches(func(s *Snapshot, p *rollout.PodPatch) bool {
		return onlyOwn(p, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, s.Set.Name)
	}))
	plant("working hot containers of others are lost", invariants.InPlace, 3, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		return onlyOwn(p, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, "mesh", "proxy")
	}))
	plant("the record names the revision before", invariants.History, 0, inPatches(func(s *Snapshot, p *rollout.PodPatch) bool {
		return rerecord(s, p, func(r *v1alpha1.SidecarSetUpgradeRecord) {
			r.SidecarSetControllerRevision = s.Set.Status.LatestRevision
		})
	}))
	plant("a reset writes the hash", invariants.Needless, 0, inPatches(func(s *Snapshot, p *rollout.PodPatch) bool {
		if p.Kind == PatchReset {
			p.Patch.SetAnnotation(annotation, p.Pod.Annotations[annotation]+" ")
		}
		return true
	}))
	plant("hot containers are emptied before the new ones serve", invariants.Hot, 3, inPlan(emptyEarly))
	plant("the working container is emptied", invariants.Hot, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		for _, name := range slices.Sorted(maps.Keys(p.Patch.Images)) {
			if image := p.Patch.Images[name]; p.Kind == PatchReset {
				delete(p.Patch.Images, name)
				p.Patch.SetImage(twin(name), image)
			}
		}
		return true
	}))
	plant("both hot containers get the new image", invariants.Hot, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		for name, image := range maps.Clone(p.Patch.Images) {
			if p.Kind == rollout.PatchUpdateInPlace && name != "log" {
				p.Patch.SetImage(twin(name), image)
			}
		}
		return true
	}))
	plant("the working container is not written down", invariants.InPlace, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		delete(p.Patch.Annotations, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation)
		return true
	}))
	plant("the empty image is not read back", invariants.Availability, 86, misreading(func(s *Snapshot) {
		eachStatus(s.Pods, func(pod *corev1.Pod, status *corev1.ContainerStatus) {
			if c := podstate.Container(pod, status.Name); c != nil && strings.HasPrefix(c.Image, "empty:") {
				status.Image = c.Image
			}
		})
	}).While(updateInTurn))
	plant("the version of a container that is emptied stays", invariants.Hot, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		if p.Kind == PatchReset {
			maps.DeleteFunc(p.Patch.Annotations, func(key string, _ *string) bool { return key != v1alpha1.SidecarSetInPlaceUpdateStateAnnotation })
		}
		return true
	}))
	plant("a hot upgrade takes the generation for its version", invariants.Hot, 0, misreading(func(s *Snapshot) {
		s.Set.ResourceVersion = fmt.Sprint(s.Set.Generation)
	}))
	plant("hot containers are never emptied", invariants.Settled, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool { return p.Kind != PatchReset }))
	plant("the update of the workload is not waited for", invariants.Exclusive, 6, inPods(func(_ *Snapshot, pod *corev1.Pod) {
		delete(pod.Annotations, inplacev1alpha1.StateAnnotation)
	}))
	plant("the update of the workload is waited for for ever", invariants.Settled, 31, inPods(func(s *Snapshot, pod *corev1.Pod) {
		var state map[string]any
		if json.Unmarshal([]byte(pod.Annotations[inplacev1alpha1.StateAnnotation]), &state) == nil && state != nil {
			state["updateTimestamp"] = s.Now
			annotatePod(pod, inplacev1alpha1.StateAnnotation, state)
		}
	}).While(updateBesideWorkload))
	plant("nothing is enqueued when the workload has had its time", invariants.Settled, 11, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter, p.Held = 0, nil }))
	plant("pods that are deleted in the middle of their update are waited for", invariants.Settled, 13, bug{Reconciler: func(r Reconciler) {
		misreading(remember(map[string]*corev1.Pod{})).Reconciler(r)
	}})
	plant("pods that have ended are updated", invariants.Ownership, 0, inPods(func(_ *Snapshot, pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
	}))
	plant("mirror pods are updated", invariants.Ownership, 3, inPods(func(_ *Snapshot, pod *corev1.Pod) {
		delete(pod.Annotations, corev1.MirrorPodAnnotationKey)
	}))
	plant("containers are emptied anew for another empty image", invariants.Hot, 15, inPods(func(_ *Snapshot, pod *corev1.Pod) {
		for key, value := range pod.Annotations {
			if strings.HasPrefix(key, v1alpha1.SidecarSetVersionAnnotationPrefix) && value == "0" {
				pod.Annotations[key] = "1"
			}
		}
	}))
	plant("a revision that a pod names is deleted", invariants.History, 0, misreading(func(s *Snapshot) {
		s.Set.Spec.RevisionHistoryLimit = ptr.To[int32](1)
		for _, pod := range s.Pods {
			pod.DeletionTimestamp = s.Set.CreationTimestamp.DeepCopy()
		}
	}))
	plant("the revision that is injected is deleted", invariants.History, 5, misreading(func(s *Snapshot) {
		s.Set.Spec.InjectionStrategy.Revision = nil
	}).While(injectVersions))
	plant("the history is one too short", invariants.History, 10, misreading(func(s *Snapshot) {
		s.Set.Spec.RevisionHistoryLimit = ptr.To(ptr.Deref(s.Set.Spec.RevisionHistoryLimit, 10) - 1)
	}))
	plant("hot containers that are not emptied count as ready", invariants.Status, 0, inPlan(func(s *Snapshot, p *Plan) {
		if p.Status != nil && slices.ContainsFunc(p.Patch, func(patch rollout.PodPatch) bool { return patch.Kind == PatchReset }) {
			p.Status.ReadyPods++
		}
	}))
	plant("the status is not written", invariants.Settled, 0, bug{Reconciler: func(r Reconciler) {
		controller.KindOf(r).Writer.(*apply.Writer).Merge = func(context.Context, types.NamespacedName, []byte, ...string) (string, error) { return "", nil }
	}})
}
