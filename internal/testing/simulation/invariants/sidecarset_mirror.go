// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// isEmpty tells whether a container has an image that some spec had for the hot container that does not work.
func (j *sidecarSetJudge) isEmpty(pod *corev1.Pod, name string) bool {
	return j.past.sidecars.empties[unmirrored(image(&pod.Spec, name))]
}

// checkStays: an update leaves a container as the pod has it, if the revision of the pod has the same image of it as the spec.
// Nothing is asked of an author who does not know that revision. (SCS-41)
func (j *sidecarSetJudge) checkStays(before, after *corev1.Pod) {
	held := j.recordedSet(before)
	if held == nil {
		return
	}
	for i := range j.all {
		c := &j.all[i]
		same := func(old v1alpha1.SidecarContainer) bool { return old.Name == c.Name && old.Image == c.Image }
		if !slices.ContainsFunc(slices.Concat(held.Spec.Containers, held.Spec.InitContainers), same) {
			continue
		}
		for _, name := range namesOf(c) {
			if was, is := image(&before.Spec, name), image(&after.Spec, name); was != is {
				j.add(InPlace, "gives container %s of pod %s the image %s for %s, and the spec had the same before", name, before.Name, is, was)
			}
		}
	}
}

// recordedSet is the SidecarSet with what the revision holds whose hash a pod records; nil if the author did not see that.
func (j *sidecarSetJudge) recordedSet(pod *corev1.Pod) *v1alpha1.SidecarSet {
	recorded := j.record(pod, v1alpha1.SidecarSetHashAnnotation).SidecarSetHash
	for _, r := range j.Observed.Revisions {
		if recorded == "" || !metav1.IsControlledBy(r, j.set) {
			continue
		}
		if held := j.held(r); held != nil {
			if hash, _, err := j.contract.Hashes(held); err == nil && hash == recorded {
				return held
			}
		}
	}
	return nil
}
