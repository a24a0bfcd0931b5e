// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// native tells whether an init container goes on while the containers of its pod run.
func native(c *corev1.Container) bool {
	return ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
}

// natives are the native sidecars of the SidecarSet that count as containers. They are never upgraded hot. (SCI-42)
func (j *sidecarSetJudge) natives() (natives []v1alpha1.SidecarContainer) {
	for i := range j.set.Spec.InitContainers {
		if c := j.set.Spec.InitContainers[i]; j.contract.Natives && native(&c.Container) {
			c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{}
			natives = append(natives, c)
		}
	}
	return natives
}

// inPod are the names of the SidecarSet's containers that a pod has. A native sidecar may be newer than the pod.
func (j *sidecarSetJudge) inPod(pod *corev1.Pod) (names []string) {
	for i := range j.all {
		for _, name := range namesOf(&j.all[i]) {
			if image(&pod.Spec, name) != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// ranOther tells whether an init container that ends was another image in a pod. No update runs it again, and hashes cover it
// beside a native sidecar. (SCS-40)
func (j *sidecarSetJudge) ranOther(pod *corev1.Pod) bool {
	if len(j.natives()) == 0 {
		return false
	}
	for i := range j.set.Spec.InitContainers {
		of := &j.set.Spec.InitContainers[i]
		if !native(&of.Container) && slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == of.Name && unmirrored(c.Image) != of.Image }) {
			return true
		}
	}
	return false
}

// checkInitTouched: of init containers, the images of native sidecars become those of the spec, and no others change. It takes
// the images back.
func (j *sidecarSetJudge) checkInitTouched(before, after *corev1.Pod) {
	for i := range after.Spec.InitContainers {
		c := &after.Spec.InitContainers[i]
		at := slices.IndexFunc(before.Spec.InitContainers, func(old corev1.Container) bool { return old.Name == c.Name })
		if at < 0 || before.Spec.InitContainers[at].Image == c.Image {
			continue
		}
		if !slices.Contains(j.imagesOf(c.Name), unmirrored(c.Image)) {
			j.add(InPlace, "gives init container %s of pod %s the image %s, want one of %v", c.Name, before.Name, c.Image, j.imagesOf(c.Name))
		}
		c.Image = before.Spec.InitContainers[at].Image
	}
}

// SidecarsOfTwo judges a write of the controllers of two SidecarSets whose containers have the same names in pods. Images tell whose
// they are: those of the set that is called mark begin with "mark-". No container gets an image of another set. (SCS-28)
func SidecarsOfTwo(mark string) func(*Write) []Violation {
	return func(w *Write) []Violation {
		var v violations
		checkPrecise(&v, w)
		before, after := w.pods()
		if w.Resource != "pods" {
			return v
		}
		if before == nil || after == nil {
			v.add(Ownership, "%s of pod %s", w.Verb, w.name())
			return v
		}
		for _, c := range append(append([]corev1.Container(nil), before.Spec.InitContainers...), before.Spec.Containers...) {
			is := image(&after.Spec, c.Name)
			if is != c.Image && strings.HasPrefix(is, mark+"-") != strings.HasPrefix(c.Image, mark+"-") {
				v.add(Ownership, "gives container %s of pod %s the image %s of another SidecarSet, and it has %s", c.Name, before.Name, is, c.Image)
			}
		}
		if len(after.Spec.Volumes) != len(before.Spec.Volumes) {
			v.add(Ownership, "changes the volumes of pod %s", before.Name)
		}
		return v
	}
}
