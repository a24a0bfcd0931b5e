// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// A pod that an earlier update left broken keeps the only place, and the selector of the update leaves it out by now. The reset of
// another pod waits. As soon as the update reaches it, nothing excuses that the other waits. (SCS-8, SCS-18)
func TestPlacesOfPodsThatNoUpdateReaches(t *testing.T) {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.SidecarSetSpec{Containers: []v1alpha1.SidecarContainer{{
		Container:       corev1.Container{Name: "mesh", Image: "mesh:2"},
		UpgradeStrategy: v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty"}}}}}
	pod := func(name, ring, image, hash string, ready corev1.ConditionStatus) *corev1.Pod {
		record := func(hash string) string { return fmt.Sprintf(`{"web":{"hash":%q}}`, hash) }
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"ring": ring}, Annotations: map[string]string{
			v1alpha1.SidecarSetInjectedListAnnotation: "web", v1alpha1.SidecarSetHashAnnotation: record(hash), v1alpha1.SidecarSetHashWithoutImageAnnotation: record("w"),
			v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation: `{"mesh":"mesh-2"}`, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation: `{"web":{}}`}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}}
		for name, image := range map[string]string{"mesh-1": "mesh:1", "mesh-2": image} {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: name, Image: image})
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, Image: image, ContainerID: "id", Ready: ready == corev1.ConditionTrue})
		}
		return p
	}
	for ring, want := range map[string]int{"a": 0, "b": 2} {
		s := &State{Pods: map[string]*corev1.Pod{
			"web-0": pod("web-0", "a", "mesh:2", "new", corev1.ConditionTrue), "web-1": pod("web-1", "b", "mesh:bad", "old", corev1.ConditionFalse)}}
		v := &violations{}
		j := &sidecarSetJudge{violations: v, past: NewPast(), set: set, contract: &SidecarContract{}, all: set.Spec.Containers, hash: "new", withoutImage: "w",
			selector: labels.Everything(), chosen: labels.SelectorFromSet(labels.Set{"ring": ring}), maxUnavailable: 1}
		j.checkConverged(s)
		if len(*v) != want {
			t.Errorf("the update of ring %s: %v, want %d violations", ring, *v, want)
		}
	}
}
