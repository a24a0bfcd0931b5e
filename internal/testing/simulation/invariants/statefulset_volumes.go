// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// growsClaims tells whether the rolling update grows claims. (STS-40)
func (j *statefulSetJudge) growsClaims() bool {
	strategy := j.set.Spec.VolumeClaimUpdateStrategy
	return j.features.ResizeClaims && strategy != nil && strategy.Type == v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType
}

// templateOf is the template that a claim of a pod was made of; nil if the set has it no more.
func (j *statefulSetJudge) templateOf(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	return first(j.set.Spec.VolumeClaimTemplates, func(t *corev1.PersistentVolumeClaim) bool {
		return claim.Name == t.Name+"-"+j.podName(j.claimOrdinal(claim.Name))
	})
}

func requested(claim *corev1.PersistentVolumeClaim) int64 {
	return claim.Spec.Resources.Requests.Storage().Value()
}

func capacity(claim *corev1.PersistentVolumeClaim) int64 {
	return claim.Status.Capacity.Storage().Value()
}

// alike tells whether a claim has the class and the modes that its template asks for. (STS-40)
func alike(claim, template *corev1.PersistentVolumeClaim) bool {
	class := template.Spec.StorageClassName
	return (class == nil || ptr.Deref(claim.Spec.StorageClassName, "") == *class) && slices.Equal(claim.Spec.AccessModes, template.Spec.AccessModes)
}

// waitsForMount tells whether only a new pod is left to grow the file system of a claim.
func waitsForMount(claim *corev1.PersistentVolumeClaim) bool {
	return isTrue(&claim.Status, corev1.PersistentVolumeClaimFileSystemResizePending)
}

// driverFailed tells whether the driver failed to give a claim what it asks for.
func driverFailed(claim *corev1.PersistentVolumeClaim) bool {
	return isTrue(&claim.Status, corev1.PersistentVolumeClaimControllerResizeError)
}

// waitingForMount names the claims of wanted pods that are too small until new pods mount them: that is for users. (STS-43)
func (j *statefulSetJudge) waitingForMount(s *State) (names []string) {
	for _, ordinal := range j.wanted {
		pod := s.Pods[j.podName(ordinal)]
		if !j.growsClaims() || !j.owned(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		for _, c := range j.claimsOf(pod, s) {
			if t := j.templateOf(c); alike(c, t) && requested(c) >= requested(t) && capacity(c) < requested(t) && waitsForMount(c) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// checkSaysMount: if a claim waits for a new pod, HeldUp tells what holds the StatefulSet up. That may be something else. (STS-45)
func (j *statefulSetJudge) checkSaysMount(s *State) {
	if claims := j.waitingForMount(s); len(claims) > 0 && !j.saysHeldUp() {
		j.add(Status, "the file systems of %v grow when their pods start anew, and no condition HeldUp says so", claims)
	}
}

// checkResize: a claim is made to ask for what its template does, and for less than it did only after that failed. That happens in the rolling
// update alone, within partition and maxUnavailable, and if its class lets it grow. (STS-41, STS-42)
func (j *statefulSetJudge) checkResize(before, after *corev1.PersistentVolumeClaim) {
	template, ordinal := j.templateOf(after), j.claimOrdinal(after.Name)
	before, after = before.DeepCopy(), after.DeepCopy()
	if j.wrong(template == nil || !j.growsClaims(), Claims, "resizes claim %s, and nothing lets it", after.Name) {
		return
	}
	failedToGrow := before.Annotations["apps.kruise.io/owned-by-asts"] != "" && driverFailed(before) // as a controller had it ask (STS-43)
	if !equality.Semantic.DeepEqual(after.Spec.Resources, template.Spec.Resources) || requested(after) < requested(before) && !failedToGrow {
		j.add(Claims, "claim %s asks for %v, its template for %v, and it asked for %v", after.Name, after.Spec.Resources, template.Spec.Resources, before.Spec.Resources)
	}
	j.never(after.Annotations["apps.kruise.io/owned-by-asts"] != j.set.Name, Claims,
		"resizes claim %s without an annotation", after.Name)
	before.Spec.Resources, after.Spec.Resources = corev1.VolumeResourceRequirements{}, corev1.VolumeResourceRequirements{}
	pod := j.at(ordinal)
	switch {
	case !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !alike(after, template):
		j.add(Claims, "changes more of claim %s than its size", after.Name)
	case j.rolling == nil || j.rolling.Paused:
		j.add(Paused, "resizes claim %s, and no rolling update goes on", after.Name)
	case pod == nil || !j.owned(pod) || !mounts(pod, after.Name) || !j.isWanted(pod.Name):
		j.add(Needless, "resizes claim %s, which no wanted pod mounts", after.Name)
	case j.rolling.UnorderedUpdate == nil && j.below(ordinal):
		j.add(Partition, "resizes claim %s, partition %d", after.Name, j.partition)
	case j.inService(pod) && !j.resized(pod):
		if out := 1 + j.countOut(pod, nil); out > j.unavailable {
			j.add(Availability, "resizes claim %s, with %d wanted pods that do not serve or are resized then, maxUnavailable is %d", after.Name, out, j.unavailable)
		}
		j.checkTurn(pod)
	}
}

// claimsOf are the claims that a pod mounts and the set has templates of, but those that go.
func (j *statefulSetJudge) claimsOf(pod *corev1.Pod, of *State) (claims []*corev1.PersistentVolumeClaim) {
	for _, template := range j.set.Spec.VolumeClaimTemplates {
		claim := of.Claims[template.Name+"-"+pod.Name]
		if claim != nil && claim.DeletionTimestamp == nil && mounts(pod, claim.Name) {
			claims = append(claims, claim)
		}
	}
	return claims
}

// anyBound tells whether there is such a claim of a pod among those that are bound, if claims grow at all. It gets the claim and its
// template.
func (j *statefulSetJudge) anyBound(pod *corev1.Pod, is func(c, t *corev1.PersistentVolumeClaim) bool) bool {
	return pod != nil && j.growsClaims() && slices.ContainsFunc(j.claimsOf(pod, j.Known), func(c *corev1.PersistentVolumeClaim) bool {
		return c.Status.Phase == corev1.ClaimBound && is(c, j.templateOf(c))
	})
}

// resized tells whether a claim of a pod is on its way to a size that its template asks for. One that fails on its way to more than that
// is not. (STS-41, STS-43)
func (j *statefulSetJudge) resized(pod *corev1.Pod) bool {
	return j.anyBound(pod, func(c, t *corev1.PersistentVolumeClaim) bool {
		onItsWay := capacity(c) < requested(c) && capacity(c) < requested(t) && !(driverFailed(c) && requested(c) > requested(t))
		return alike(c, t) && onItsWay && !waitsForMount(c)
	})
}

// lacksSpace tells whether a claim of a pod is too small, or on its way, so that the pod is not updated. (STS-41, STS-42)
func (j *statefulSetJudge) lacksSpace(pod *corev1.Pod) bool {
	return j.anyBound(pod, func(c, t *corev1.PersistentVolumeClaim) bool {
		return !alike(c, t) || requested(c) < requested(t) || capacity(c) < requested(t) && !waitsForMount(c)
	})
}

// cannotGrow tells whether a claim of a pod cannot get what its template asks for, as long as its storage class does not change.
// (STS-42)
func (j *statefulSetJudge) cannotGrow(pod *corev1.Pod) bool {
	return j.anyBound(pod, func(c, t *corev1.PersistentVolumeClaim) bool {
		return !alike(c, t) || requested(c) < requested(t) && !slices.Contains(j.Known.Expandable, ptr.Deref(c.Spec.StorageClassName, ""))
	})
}

// tooSmall tells whether a claim asks for less than its template does. (STS-30)
func (j *statefulSetJudge) tooSmall(s *State) bool {
	for t := range each(j.set.Spec.VolumeClaimTemplates) {
		for _, ordinal := range j.wanted {
			if claim := s.Claims[t.Name+"-"+j.podName(ordinal)]; claim != nil && requested(claim) < requested(t) {
				return true
			}
		}
	}
	return false
}

// checkGrown is about the pods that the update reaches, when all has settled. Their claims have what their templates ask for,
// or wait for the pods to start anew. checkGrown counts the pods whose claims cannot grow: users are told of them. (STS-41 to
// STS-43)
func (j *statefulSetJudge) checkGrown(s *State) (obstructed int) {
	for _, ordinal := range j.wanted {
		pod := j.at(ordinal)
		if pod == nil || j.rolling == nil || j.rolling.UnorderedUpdate == nil && j.below(ordinal) {
			continue
		}
		switch {
		case j.cannotGrow(pod):
			obstructed++
		case j.rolling.UnorderedUpdate == nil && j.lacksSpace(pod):
			j.add(Settled, "claims of pod %d lack space, and nothing is in their way", ordinal)
		}
	}
	return obstructed
}

// checkVolumeCounts: the status counts the claims of pods by template. (STS-44)
func (j *statefulSetJudge) checkVolumeCounts(status *v1beta1.StatefulSetStatus, of *State) {
	var want []v1beta1.StatefulSetVolumeClaimStatus
	for t := range each(j.set.Spec.VolumeClaimTemplates) {
		counts := v1beta1.StatefulSetVolumeClaimStatus{VolumeClaimName: t.Name}
		for _, pod := range among(slices.Values(j.members(of)), j.owned) {
			for _, c := range j.claimsOf(pod, of) {
				if c.Name != t.Name+"-"+pod.Name || !alike(c, t) || requested(c) < requested(t) {
					continue
				}
				counts.CompatibleReplicas++
				count(&counts.CompatibleReadyReplicas, capacity(c) >= requested(c))
			}
		}
		want = append(want, counts)
	}
	j.never(j.features.ResizeClaims && !slices.Equal(want, status.VolumeClaims), Status,
		"volumeClaims are %v, want %v", status.VolumeClaims, want)
}
