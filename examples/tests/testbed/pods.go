// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// What a user, or a controller of the user's, does to pods.

// PatchPod patches a pod strategically, or a subresource of it, and waits until the watch shows that.
func (s *Scene) PatchPod(name string, patch map[string]any, subresources ...string) {
	s.Helper()
	data, err := json.Marshal(patch)
	if err != nil {
		s.Fatal(err)
	}
	pod, err := s.bed.Core.CoreV1().Pods(s.Namespace).Patch(s.Context(), name, types.StrategicMergePatchType, data, metav1.PatchOptions{}, subresources...)
	if err != nil {
		s.Fatalf("patch pod %s with %s: %v", name, data, err)
	}
	s.Seen(pod.ResourceVersion)
}

// Seen waits until the watch of pods has come to a version.
func (s *Scene) Seen(version string) {
	s.Helper()
	s.Await("the watch of pods shows resourceVersion "+version, func() string { return s.Pods.Behind(version) })
}

// CatchUp waits until the watch of pods shows everything that has been stored by now. Watches of different kinds are not
// equally far: what a workload's status tells of its pods may be news to the watch of pods.
func (s *Scene) CatchUp() {
	s.Helper()
	list, err := s.bed.Core.CoreV1().Pods(s.Namespace).List(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatalf("list pods: %v", err)
	}
	stored := map[types.UID]bool{}
	for i := range list.Items {
		stored[list.Items[i].UID] = true
		s.Seen(list.Items[i].ResourceVersion)
	}
	s.Await("the watch of pods shows what is gone", func() string {
		for _, pod := range s.Pods.All() {
			if order, err := resourceversion.CompareResourceVersion(pod.ResourceVersion, list.ResourceVersion); err != nil || order < 0 && !stored[pod.UID] {
				return fmt.Sprintf("pod %s (%v)", pod.Name, err)
			}
		}
		return ""
	})
}

// Label sets a label of a pod; nil removes it.
func (s *Scene) Label(pod, key string, value any) {
	s.Helper()
	s.PatchPod(pod, map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}})
}

// SetPhase writes the phase into the status of a pod.
func (s *Scene) SetPhase(pod string, phase corev1.PodPhase) {
	s.Helper()
	s.PatchPod(pod, map[string]any{"status": map[string]any{"phase": phase}}, "status")
}

// DeletePod deletes a pod, and returns when the watch shows that it is about to go.
func (s *Scene) DeletePod(name string) {
	s.Helper()
	old, _ := s.Pods.Named(name)
	if err := s.bed.Core.CoreV1().Pods(s.Namespace).Delete(s.Context(), name, metav1.DeleteOptions{}); err != nil {
		s.Fatalf("delete pod %s: %v", name, err)
	}
	s.Await("the watch shows that pod "+name+" is deleted", func() string {
		if pod, found := s.Pods.Named(name); found && pod.UID == old.UID && pod.DeletionTimestamp == nil {
			return podstate.Describe(pod, false)
		}
		return ""
	})
}

// Orphan creates a pod without an owner.
func (s *Scene) Orphan(name string, labels map[string]string) *corev1.Pod {
	s.Helper()
	pod, err := s.bed.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{AutomountServiceAccountToken: new(false), Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create pod %s: %v", name, err)
	}
	s.Seen(pod.ResourceVersion)
	return pod
}

// AwaitPod waits until a pod satisfies wrong, which returns what is wrong with it.
func (s *Scene) AwaitPod(name, expected string, wrong func(*corev1.Pod) string) *corev1.Pod {
	s.Helper()
	var last *corev1.Pod
	s.Await(fmt.Sprintf("pod %s: %s", name, expected), func() string {
		pod, found := s.Pods.Named(name)
		if !found {
			return "there is no such pod"
		}
		last = pod
		return wrong(pod)
	})
	return last
}

// AwaitGone waits until no pod has the UID.
func (s *Scene) AwaitGone(pod *corev1.Pod, rule string) {
	s.Helper()
	s.Await(fmt.Sprintf("%s: pod %s is gone", rule, pod.Name), func() string {
		for _, other := range s.Pods.All() {
			if other.UID == pod.UID {
				return podstate.Describe(other, false)
			}
		}
		return ""
	})
}
