package e2e

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What a user, or a controller of the user's, does to pods.

func (s *scene) patchPod(name string, patch map[string]any, subresources ...string) {
	s.Helper()
	data, err := json.Marshal(patch)
	if err != nil {
		s.Fatal(err)
	}
	pod, err := core.CoreV1().Pods(s.namespace).Patch(s.Context(), name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, subresources...)
	if err != nil {
		s.fatalf("patch pod %s with %s: %v", name, data, err)
	}
	s.seen(pod.ResourceVersion)
}

// seen waits until the watch of pods has come to a version.
func (s *scene) seen(version string) {
	s.Helper()
	s.await("the watch of pods shows resourceVersion "+version, func() string { return s.pods.behind(version) })
}

// label sets a label of a pod; nil removes it.
func (s *scene) label(pod, key string, value any) {
	s.Helper()
	s.patchPod(pod, map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}})
}

func (s *scene) setPhase(pod string, phase corev1.PodPhase) {
	s.Helper()
	s.patchPod(pod, map[string]any{"status": map[string]any{"phase": phase}}, "status")
}

func (s *scene) deletePod(name string) {
	s.Helper()
	old, _ := s.pods.named(name)
	if err := core.CoreV1().Pods(s.namespace).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.fatalf("delete pod %s: %v", name, err)
	}
	s.await("the watch shows that pod "+name+" is deleted", func() string {
		if pod, found := s.pods.named(name); found && pod.UID == old.UID && pod.DeletionTimestamp == nil {
			return describe(pod, false)
		}
		return ""
	})
}

// orphan creates a pod without an owner.
func (s *scene) orphan(name string, labels map[string]string) *corev1.Pod {
	s.Helper()
	pod, err := core.CoreV1().Pods(s.namespace).Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.fatalf("create pod %s: %v", name, err)
	}
	s.seen(pod.ResourceVersion)
	return pod
}

// awaitPod waits until a pod satisfies wrong, which returns what is wrong with it.
func (s *scene) awaitPod(name, expected string, wrong func(*corev1.Pod) string) *corev1.Pod {
	s.Helper()
	var last *corev1.Pod
	s.await(fmt.Sprintf("pod %s: %s", name, expected), func() string {
		pod, found := s.pods.named(name)
		if !found {
			return "there is no such pod"
		}
		last = pod
		return wrong(pod)
	})
	return last
}

// awaitGone waits until no pod has the UID.
func (s *scene) awaitGone(pod *corev1.Pod, rule string) {
	s.Helper()
	s.await(fmt.Sprintf("%s: pod %s is gone", rule, pod.Name), func() string {
		for _, other := range s.pods.all() {
			if other.UID == pod.UID {
				return describe(other, false)
			}
		}
		return ""
	})
}
