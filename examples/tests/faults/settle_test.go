// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// unsettled says which workloads are not as their specs want them, and why.
func (s *story) unsettled() (all []string) {
	for _, set := range s.cloneSets.All() {
		if wrong := s.cloneSetUnsettled(set); wrong != "" {
			all = append(all, set.Name+": "+wrong)
		}
	}
	for _, set := range s.statefulSets.All() {
		if wrong := s.statefulSetUnsettled(set); wrong != "" {
			all = append(all, set.Name+": "+wrong)
		}
	}
	for _, set := range s.daemonSets.All() {
		if wrong := s.daemonSetUnsettled(set); wrong != "" {
			all = append(all, set.Name+": "+wrong)
		}
	}
	for _, set := range s.sidecarSets.All() {
		if wrong := s.sidecarSetUnsettled(set); wrong != "" {
			all = append(all, set.Name+": "+wrong)
		}
	}
	for _, job := range s.broadcastJobs.All() {
		if wrong := s.broadcastJobUnsettled(job); wrong != "" {
			all = append(all, job.Name+": "+wrong)
		}
	}
	for _, b := range s.budgets.All() {
		if wrong := budgetUnsettled(b); wrong != "" {
			all = append(all, "budget "+b.Name+": "+wrong)
		}
	}
	all = append(all, s.placesUnsettled()...)
	for _, d := range s.distributions.All() {
		if wrong := s.distributionUnsettled(d); wrong != "" {
			all = append(all, d.Name+": "+wrong)
		}
	}
	for _, job := range s.debugs.All() {
		if wrong := ephemeralJobUnsettled(job); wrong != "" {
			all = append(all, job.Name+": "+wrong)
		}
	}
	for _, m := range s.markers.All() {
		if wrong := s.markerUnsettled(m); wrong != "" {
			all = append(all, m.Name+": "+wrong)
		}
	}
	slices.Sort(all)
	return all
}

// inProgress returns the workloads with which the controllers have something to do: unsettled ones that are not paused. That
// whose pods users evict all the time does not count.
func (s *story) inProgress() (names []string) {
	paused := map[string]bool{}
	for _, set := range s.cloneSets.All() {
		paused[set.Name] = set.Spec.UpdateStrategy.Paused
	}
	paused[clonedGuarded], paused["budget "+clonedGuarded] = true, true
	for _, set := range s.statefulSets.All() {
		paused[set.Name] = set.Spec.UpdateStrategy.RollingUpdate.Paused
	}
	for _, set := range s.daemonSets.All() {
		paused[set.Name] = set.Spec.UpdateStrategy.RollingUpdate.Paused != nil && *set.Spec.UpdateStrategy.RollingUpdate.Paused
	}
	for _, set := range s.sidecarSets.All() {
		paused[set.Name] = set.Spec.UpdateStrategy.Paused
	}
	for _, line := range s.unsettled() {
		if name, _, _ := strings.Cut(line, ":"); !paused[name] {
			names = append(names, name)
		}
	}
	return names
}

// podsUnsettled says what is wrong with the pods of a workload.
func (s *story) podsUnsettled(name string, uid types.UID, replicas, updated int32, image string) string {
	all, atImage := int32(0), int32(0)
	for _, pod := range s.pods.All() {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.UID != uid {
			continue
		}
		// The status of a StatefulSet leaves the state out, and the pods of a DaemonSet have none without a hook.
		if state := podstate.Lifecycle(pod); !podstate.InService(pod) || state != lifecyclev1alpha1.StateNormal && !(state == "" && owner.Kind == "DaemonSet") {
			return podstate.Describe(pod, false)
		}
		all++
		if podstate.Image(pod, "main") == image {
			atImage++
		}
	}
	if all != replicas || atImage < updated {
		return fmt.Sprintf("%d pods of %d, of which %d have %s, and %d should", all, replicas, atImage, image, updated)
	}
	return ""
}

func (s *story) cloneSetUnsettled(set *v1alpha1.CloneSet) string {
	n, status := *set.Spec.Replicas, set.Status
	partition := int32(0)
	if leaves := set.Spec.UpdateStrategy.Partition; leaves != nil { // the users' percentages leave one pod at least to update
		of, err := intstr.GetScaledValueFromIntOrPercent(leaves, int(n), true)
		if err != nil {
			return err.Error()
		}
		partition = min(int32(of), n)
	}
	if wrong := s.podsUnsettled(set.Name, set.UID, n, n-partition, set.Spec.Template.Spec.Containers[0].Image); wrong != "" {
		return wrong
	}
	if status.ObservedGeneration != set.Generation || status.Replicas != n || status.ReadyReplicas != n || status.AvailableReplicas != n ||
		status.UpdatedReplicas < n-partition || status.UpdatedReadyReplicas != status.UpdatedReplicas || status.ExpectedUpdatedReplicas != n-partition ||
		status.UpdatedReplicas == n && status.CurrentRevision != status.UpdateRevision || len(status.Conditions) > 0 || len(set.Spec.ScaleStrategy.PodsToDelete) > 0 {
		return fmt.Sprintf("generation %d, %d replicas, to delete %v, status %+v", set.Generation, n, set.Spec.ScaleStrategy.PodsToDelete, status)
	}
	if len(set.Spec.VolumeClaimTemplates) == 0 {
		return ""
	}
	return s.claimsUnsettled(set.Name)
}

func (s *story) statefulSetUnsettled(set *v1beta1.StatefulSet) string {
	n, status := *set.Spec.Replicas, set.Status
	var wanted []string
	held := int32(0)
	for ordinal := 0; len(wanted) < int(n); ordinal++ {
		if slices.Contains(set.Spec.Reserved(), intstr.FromInt32(int32(ordinal))) {
			continue
		}
		wanted = append(wanted, fmt.Sprintf("%s-%d", set.Name, ordinal))
		if partition := set.Spec.UpdateStrategy.RollingUpdate.Partition; partition != nil && ordinal < int(*partition) {
			held++
		}
	}
	if wrong := s.podsUnsettled(set.Name, set.UID, n, n-held, set.Spec.Template.Spec.Containers[0].Image); wrong != "" {
		return wrong
	}
	if found := testbed.Names(s.active(set.Name)); !slices.Equal(found, wanted) {
		return fmt.Sprintf("pods %v instead of %v", found, wanted)
	}
	if status.ObservedGeneration != set.Generation || status.Replicas != n || status.ReadyReplicas != n || status.AvailableReplicas != n ||
		status.UpdatedReplicas < n-held || status.UpdatedReadyReplicas != status.UpdatedReplicas ||
		status.UpdatedReplicas == n && status.CurrentRevision != status.UpdateRevision || len(status.Conditions) > 0 {
		return fmt.Sprintf("generation %d, %d replicas, status %+v", set.Generation, n, status)
	}
	for _, claim := range s.claims.All() {
		collected := slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "Pod" })
		if strings.HasPrefix(claim.Name, claimTemplate+"-"+set.Name+"-") && (collected || claim.DeletionTimestamp != nil) {
			return fmt.Sprintf("claim %s is about to go", claim.Name)
		}
	}
	return ""
}

// claimsUnsettled says which pods of a CloneSet have no claim, and which claims are about to go. A
// claim without a pod may be there. A manager that is killed between the deletion of a pod and that
// of its claim leaves the claim to the next pod. (CS-18, CS-35)
func (s *story) claimsUnsettled(name string) string {
	found := map[string]bool{}
	for _, claim := range s.claims.All() {
		if claim.DeletionTimestamp != nil && strings.HasPrefix(claim.Name, claimTemplate+"-"+name+"-") {
			return fmt.Sprintf("claim %s is about to go", claim.Name)
		}
		found[claim.Name] = true
	}
	for _, pod := range s.active(name) {
		if claim := claimTemplate + "-" + pod.Name; !found[claim] {
			return fmt.Sprintf("pod %s has no claim %s", pod.Name, claim)
		}
	}
	return ""
}

// settle lets everything come to rest, wants nothing to be written any more, and judges what has happened up to then.
func (s *story) settle() {
	s.Helper()
	for _, set := range ownSets(s.cloneSets.All()) {
		s.editCloneSet(set.Name, "goes on", func(set *v1alpha1.CloneSet) { set.Spec.UpdateStrategy.Paused = false })
	}
	for _, set := range ownSets(s.statefulSets.All()) {
		s.editStatefulSet(set.Name, "goes on", func(set *v1beta1.StatefulSet) { set.Spec.UpdateStrategy.RollingUpdate.Paused = false })
	}
	for _, set := range s.daemonSets.All() {
		s.editDaemonSet(set.Name, "goes on", func(set *v1alpha1.DaemonSet) { set.Spec.UpdateStrategy.RollingUpdate.Paused = nil })
	}
	for _, set := range s.sidecarSets.All() {
		s.editSidecarSet(set.Name, "goes on", func(set *sidecarv1alpha1.SidecarSet) { set.Spec.UpdateStrategy.Paused = false })
	}
	s.drain()
	s.respread()
	s.awaitSettled()
	s.ticks()
	s.haltCronJob()
	s.caughtUp()
	s.reviewed()
	written := s.Writes()
	s.touch()
	s.awaitSettled()
	s.caughtUp()
	s.reviewed()
	s.record.Settled()
	s.reviewed()
	s.wroteStatusOnly(written)
	s.pauseCronJob(false)
	s.note("settled")
}

// wroteStatusOnly fails unless the managers have written one status of every workload since, what a UnitedDeployment and a StatefulSet hand down,
// and nothing else.
func (s *story) wroteStatusOnly(since map[string]int) {
	s.Helper()
	cloned, stateful := len(s.cloneSets.All())-1, len(s.statefulSets.All()) // without the guarded one, which is not touched
	wanted := map[string]int{
		"patch clonesets/status": cloned, "patch statefulsets/status": stateful, "patch daemonsets/status": len(daemonSets),
		// Those of subsets get the limit of revisions.
		"patch clonesets": cloned - len(cloneSets), "patch statefulsets": stateful - len(statefulSets), "patch uniteddeployments/status": len(unitedDeployments),
		"patch workloadspreads/status": len(spreads), "patch persistentpodstates": 1, "patch persistentpodstates/status": 1,
		"patch podprobemarkers/status": 1,
	}
	s.AwaitAsking("what the managers wrote is logged", func() string {
		written, tooMany := map[string]int{}, false
		for what, n := range s.Writes() {
			if n -= since[what]; n > 0 && !strings.HasSuffix(what, " events") {
				written[what] = n
				tooMany = tooMany || n > wanted[what]
			}
		}
		if tooMany {
			s.Fatalf("a change that no pod depends on: expected these writes: %v, observed %v", wanted, written)
		}
		return cmp.Diff(wanted, written)
	})
}

func (s *story) awaitSettled() {
	s.Helper()
	s.AwaitAsking("all workloads are settled", func() string {
		s.managers.revive()
		wrong := s.unsettled()
		if len(wrong) == 0 {
			return s.deploymentUnsettled()
		}
		return strings.Join(wrong, "\n")
	})
}

// touch has the controllers look at every workload again, with nothing to do but to say so. It returns when the watches show that.
func (s *story) touch() {
	s.Helper()
	flip := func(limit *int32) *int32 { return new(21 - *limit) } // 10 by default
	for _, name := range cloneSets {
		version := s.editCloneSet(name, "touched", func(set *v1alpha1.CloneSet) { set.Spec.RevisionHistoryLimit = flip(set.Spec.RevisionHistoryLimit) })
		s.Await("the watch shows that "+name+" is touched", func() string { return s.cloneSets.Behind(version) })
	}
	for _, name := range statefulSets {
		version := s.editStatefulSet(name, "touched", func(set *v1beta1.StatefulSet) { set.Spec.RevisionHistoryLimit = flip(set.Spec.RevisionHistoryLimit) })
		s.Await("the watch shows that "+name+" is touched", func() string { return s.statefulSets.Behind(version) })
	}
	for _, name := range daemonSets {
		version := s.editDaemonSet(name, "touched", func(set *v1alpha1.DaemonSet) { set.Spec.RevisionHistoryLimit = flip(set.Spec.RevisionHistoryLimit) })
		s.Await("the watch shows that "+name+" is touched", func() string { return s.daemonSets.Behind(version) })
	}
	s.touchPlaces()
	s.touchDistributions()
	s.touchMarker()
	for _, container := range sidecarSets {
		name := s.sidecarSetName(container)
		version := s.editSidecarSet(name, "touched", func(set *sidecarv1alpha1.SidecarSet) {
			set.Spec.RevisionHistoryLimit = flip(set.Spec.RevisionHistoryLimit)
		})
		s.Await("the watch shows that "+name+" is touched", func() string { return s.sidecarSets.Behind(version) })
	}
}

// caughtUp waits until the watches of pods, claims and revisions have shown all that was written before: a mark that is written last.
func (s *story) caughtUp() {
	s.Helper()
	patch := []byte(fmt.Sprintf(`{"metadata":{"annotations":{"example.com/mark":"%d"}}}`, s.record.Seen()))
	name := "stranger-" + cloneSets[0]
	pod, err := bed.Core.CoreV1().Pods(s.Namespace).Patch(s.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		s.Fatalf("mark pod %s: %v", name, err)
	}
	claim, err := bed.Core.CoreV1().PersistentVolumeClaims(s.Namespace).Patch(s.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		s.Fatalf("mark claim %s: %v", name, err)
	}
	revision, err := bed.Core.AppsV1().ControllerRevisions(s.Namespace).Patch(s.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		s.Fatalf("mark revision %s: %v", name, err)
	}
	s.Await("the watches have caught up", func() string {
		return s.pods.Behind(pod.ResourceVersion) + s.claims.Behind(claim.ResourceVersion) + s.revisions.Behind(revision.ResourceVersion)
	})
	s.copiesCaughtUp(patch)
}
