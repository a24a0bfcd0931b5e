// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// SidecarsOfTwo judges a write of the controllers of SidecarSets whose containers have the same names in pods, and whose images tell
// whose they are: those of the set that is called mark begin with "mark-". No container gets an image of another set. (SCS-28)
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
