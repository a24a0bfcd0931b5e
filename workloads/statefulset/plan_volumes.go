// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// ClaimResize is a claim that is to ask for what its claim template asks for by now.
type ClaimResize struct {
	// Claim is the claim as it was observed, shared with the caches.
	Claim *corev1.PersistentVolumeClaim
	// Pod is the name of the pod that mounts it.
	Pod string
	// Resources are those of the claim template. The claim gets the storage that they request.
	Resources corev1.VolumeResourceRequirements
}

// String says what becomes of the claim, on one line.
func (c ClaimResize) String() string {
	return fmt.Sprintf("resize claim %s from %s to %s", c.Claim.Name, c.Claim.Spec.Resources.Requests.Storage(), c.Resources.Requests.Storage())
}

// classRetry is how soon a storage class is read again that does not let claims grow.
const classRetry = time.Minute

// volume is a claim of a pod, and the claim template that it was made of.
type volume struct {
	claim    *corev1.PersistentVolumeClaim
	template *corev1.PersistentVolumeClaim
}

// resizes tells whether the rolling update grows claims. (STS-40)
func (s *Snapshot) resizes() bool {
	strategy := s.Set.Spec.VolumeClaimUpdateStrategy
	return s.Features.ResizeClaims && strategy != nil && strategy.Type == v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType
}

// volumesOf lists the claims that a pod mounts, in the order of the claim templates. One that is missing or going is left out.
func (s *Snapshot) volumesOf(pod *pod) (volumes []volume) {
	for i := range s.Set.Spec.VolumeClaimTemplates {
		template := &s.Set.Spec.VolumeClaimTemplates[i]
		claim := s.Claims[mounted(pod.Pod, template.Name)]
		if claim != nil && claim.DeletionTimestamp == nil {
			volumes = append(volumes, volume{claim: claim, template: template})
		}
	}
	return volumes
}

// waitToGrow says why the claims of pods do not grow that have nothing else to be updated. (STS-41)
func (p *planner) waitToGrow(slots []slot, reason *rollout.Reason) {
	for _, s := range slots {
		if s.pod != nil && s.pod.growing && !mustUpdate(s) {
			p.Wait(s.pod.Pod, reason)
		}
	}
}

// observeVolumes finds out what the claims of a pod lack.
func (p *planner) observeVolumes(pod *pod) {
	for _, v := range p.volumesOf(pod) {
		pod.growing = pod.growing || !v.completed()
		pod.resizing = pod.resizing || v.resizing()
	}
}

// sameKind tells whether a claim has the storage class and the access modes of its template, which never change. A template that
// names no class takes any. (STS-40)
func (v volume) sameKind() bool {
	class := v.template.Spec.StorageClassName
	return (class == nil || ptr.Equal(class, v.claim.Spec.StorageClassName)) && slices.Equal(v.template.Spec.AccessModes, v.claim.Spec.AccessModes)
}

// compatible tells whether a claim asks for what its template asks for, or more.
func (v volume) compatible() bool {
	return v.sameKind() && v.claim.Spec.Resources.Requests.Storage().Cmp(*v.wanted()) >= 0
}

// ready tells whether a claim has the storage that it asks for.
func (v volume) ready() bool {
	return v.sameKind() && v.claim.Status.Capacity.Storage().Cmp(*v.claim.Spec.Resources.Requests.Storage()) >= 0
}

// completed tells whether nothing is left to do for a claim but what its pod does when it is started anew. A claim that has what
// its template asks for is completed, too, whatever a failed resize has left in its request. A claim that has no volume yet, or
// has lost it, is completed as well. The API server does not let it change, and an update of its pod may be what it lacks.
// (STS-40, STS-41)
func (v volume) completed() bool {
	return !v.bound() || v.compatible() && (v.ready() || v.fileSystemPending() || v.suffices())
}

// bound tells whether a claim has a volume.
func (v volume) bound() bool {
	return v.claim.Status.Phase != corev1.ClaimPending && v.claim.Status.Phase != corev1.ClaimLost
}

// wanted is the storage that the template asks for.
func (v volume) wanted() *resource.Quantity { return v.template.Spec.Resources.Requests.Storage() }

// suffices tells whether the claim has as much.
func (v volume) suffices() bool { return v.claim.Status.Capacity.Storage().Cmp(*v.wanted()) >= 0 }

// fileSystemPending tells whether the volume has grown, and its file system grows when a pod mounts it.
func (v volume) fileSystemPending() bool {
	return v.condition(corev1.PersistentVolumeClaimFileSystemResizePending) != nil
}

// condition returns a condition of the claim that is True; nil if there is none.
func (v volume) condition(of corev1.PersistentVolumeClaimConditionType) *corev1.PersistentVolumeClaimCondition {
	for i := range v.claim.Status.Conditions {
		if c := &v.claim.Status.Conditions[i]; c.Type == of && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// grow has the claims of a pod grow before it is updated, and tells whether the pod is left alone meanwhile. What keeps a claim
// from growing keeps its pod, and no other. (STS-41, STS-42)
func (p *planner) grow(s slot, b *updateBudget) bool {
	if s.pod == nil || !s.pod.own || s.pod.terminating || s.pod.ended || s.pod.Deleted || !s.pod.growing {
		return false
	}
	pod, waits := s.pod, false
	for _, v := range p.volumesOf(pod) {
		if v.completed() {
			continue
		}
		switch obstacle := p.obstacle(v); {
		case obstacle != nil:
			err := fmt.Errorf("resize claim %s of pod %s: %w", v.claim.Name, pod.Name, obstacle)
			p.plan.RefusedClaims = append(p.plan.RefusedClaims, err)
			p.UpdateProblem(err)
			p.waitForVolume(pod, obstacle.Error())
		case v.compatible() && !p.stranded(v):
			p.waitForVolume(pod, v.progress())
		case p.InOtherwise(): // it grows after pods are deleted
		case p.mayGrow(pod, b):
			p.plan.ResizeClaims = append(p.plan.ResizeClaims, ClaimResize{Claim: v.claim, Pod: pod.Name, Resources: *v.template.Spec.Resources.DeepCopy()})
			p.waitForVolume(pod, fmt.Sprintf("claim %s is resized now", v.claim.Name))
		default:
			waits = true
		}
	}
	if waits {
		b.wait(pod)
	}
	return true
}

// templateOf is the claim template of a claim that volumesOf lists.
func (s *Snapshot) templateOf(claim string) *corev1.PersistentVolumeClaim {
	of, _, _ := podplan.SplitOrdinal(claim)
	for i := range s.Set.Spec.VolumeClaimTemplates {
		if template := &s.Set.Spec.VolumeClaimTemplates[i]; template.Name+"-"+s.Set.Name == of {
			return template
		}
	}
	return nil
}

// planLarger names the claims that stay larger than their templates, when the spec has changed: storage does not shrink. (STS-45)
func (p *planner) planLarger() {
	if !p.resizes() || p.Set.Generation == p.Set.Status.ObservedGeneration {
		return
	}
	for _, s := range p.wanted {
		if s.pod == nil || !s.pod.own || s.pod.terminating {
			continue
		}
		for _, v := range p.volumesOf(s.pod) {
			if v.sameKind() && v.claim.Spec.Resources.Requests.Storage().Cmp(*v.wanted()) > 0 && !p.stranded(v) {
				p.plan.LargerClaims = append(p.plan.LargerClaims, v.claim.Name)
			}
		}
	}
}

// resizing tells whether a claim is on its way to a size, that of its template today or before, and does not suffice yet. One that
// fails on its way to a former size is on no way that anything waits for. (STS-43)
func (v volume) resizing() bool {
	return v.bound() && v.sameKind() && !v.ready() && !v.fileSystemPending() && !v.suffices() && !v.abandoned()
}

// abandoned tells whether the driver fails to give a claim what it asks for, and its template asks for less by now.
func (v volume) abandoned() bool {
	failed := v.condition(corev1.PersistentVolumeClaimControllerResizeError) != nil || v.condition(corev1.PersistentVolumeClaimNodeResizeError) != nil
	return failed && v.claim.Spec.Resources.Requests.Storage().Cmp(*v.wanted()) > 0
}

// mayGrow tells whether the claims of a pod may grow now. At a time maxUnavailable wanted pods may be resized, updated or down.
// (STS-41)
func (p *planner) mayGrow(pod *pod, b *updateBudget) bool {
	if !p.out(slot{ordinal: pod.ordinal, pod: pod}) {
		if b.out >= p.limits.maxUnavailable {
			return false
		}
		b.out++
	}
	pod.resizing = true
	return true
}

// stranded tells whether the update had an abandoned claim ask for so much: it is to ask for what the template does by now. (STS-43)
func (p *planner) stranded(v volume) bool {
	return v.abandoned() && v.claim.Annotations[v1beta1.OwnedByStatefulSetAnnotation] == p.Set.Name
}

// obstacle says why a claim that is too small cannot grow; nil if it can, or does. (STS-42)
func (p *planner) obstacle(v volume) error {
	class := ptr.Deref(v.claim.Spec.StorageClassName, "")
	switch {
	case !v.sameKind():
		return fmt.Errorf("it has storage class %q and access modes %v, and claim template %s asks for %q and %v, which no claim can change; "+
			"delete the claim and the pod to have them created anew", class, v.claim.Spec.AccessModes, v.template.Name,
			ptr.Deref(v.template.Spec.StorageClassName, ""), v.template.Spec.AccessModes)
	case v.compatible():
		return nil
	case class == "":
		return errors.New("it has no storage class, so that its volume cannot grow")
	case p.Classes[class] == nil:
		p.RequeueAfter(classRetry)
		return fmt.Errorf("its storage class %s does not exist", class)
	case !ptr.Deref(p.Classes[class].AllowVolumeExpansion, false):
		p.RequeueAfter(classRetry)
		return fmt.Errorf("its storage class %s does not let volumes grow: set allowVolumeExpansion there, or take the claim template back", class)
	}
	return nil
}

// progress says how far the resize of a claim is.
func (v volume) progress() string {
	text := fmt.Sprintf("claim %s is resized: it has %s, and asks for %s", v.claim.Name, v.claim.Status.Capacity.Storage(), v.claim.Spec.Resources.Requests.Storage())
	for _, failed := range []corev1.PersistentVolumeClaimConditionType{corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError} {
		if c := v.condition(failed); c != nil {
			text += "; " + c.Message
		}
	}
	return text
}

func (p *planner) waitForVolume(pod *pod, message string) {
	p.Wait(pod.Pod, &rollout.Reason{Rule: rollout.RuleVolumeResize, Message: message})
}

// countClaims counts the claims of pods, by the claim templates. (STS-44)
func (p *planner) countClaims() (counts []v1beta1.StatefulSetVolumeClaimStatus) {
	for i := range p.Set.Spec.VolumeClaimTemplates {
		counts = append(counts, v1beta1.StatefulSetVolumeClaimStatus{VolumeClaimName: p.Set.Spec.VolumeClaimTemplates[i].Name})
	}
	for _, pod := range p.pods {
		for _, v := range p.volumesOf(pod) {
			i := slices.IndexFunc(counts, func(c v1beta1.StatefulSetVolumeClaimStatus) bool { return c.VolumeClaimName == v.template.Name })
			count(&counts[i].CompatibleReplicas, v.compatible())
			count(&counts[i].CompatibleReadyReplicas, v.compatible() && v.ready())
		}
	}
	return counts
}
