// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOf(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx"}}
	untouched := pod.DeepCopy()
	var paths []string
	for _, m := range Of(pod) {
		changed := pod.DeepCopy()
		m.Apply(changed)
		if equality.Semantic.DeepEqual(changed, pod) {
			continue // an absent thing that is empty
		}
		paths = append(paths, m.Path)
	}
	for _, want := range []string{
		".ObjectMeta.Labels[app]", ".ObjectMeta.Labels[new]", ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.OwnerReferences[].Controller",
		".Spec.Containers", ".Spec.Containers[].Image", ".Status.Phase", ".Status.Conditions[].Status",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("nothing changes %s", want)
		}
	}
	if !equality.Semantic.DeepEqual(untouched, pod) {
		t.Error("the object itself was changed")
	}
}

func TestCheckFindsWhatIsRead(t *testing.T) {
	reads := Reads{}
	Plan[corev1.Pod]{What: "pod", Copy: (*corev1.Pod).DeepCopy, Can: regexp.MustCompile(`^\.Status|^\.Spec\.NodeName`),
		Of:      func(p *corev1.Pod) string { return string(p.Status.Phase) + p.Labels["app"] },
		Matters: func(before, after *corev1.Pod) bool { return before.Status.Phase != after.Status.Phase },
	}.Check(t, reads, &corev1.Pod{})
	if len(reads) != 1 || !reads["pod.Status.Phase"] {
		t.Errorf("read: %v", reads)
	}
}
