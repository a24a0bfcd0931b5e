// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

var (
	app      = map[string]string{"app": "web"}
	webSet   = metav1.ObjectMeta{Name: "web", UID: "set"}
	webOwner = []metav1.OwnerReference{{Name: "web", UID: "set", Controller: new(true)}}
)

func templateOf(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
}

// servingPod is available at the revision of an image.
func servingPod(name, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), OwnerReferences: webOwner,
			Labels: map[string]string{"app": "web", "controller-revision-hash": "web-" + image},
		},
		Spec:   templateOf(image).Spec,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func broken(all []invariants.Violation) (names []invariants.Invariant) {
	for _, v := range all {
		names = append(names, v.Invariant)
	}
	return names
}
