// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace/rollout"
)

// Some draws any of the pods that exist.
func (w *Cluster) Some(t *rapid.T) (pods []*corev1.Pod) {
	for _, pod := range w.Pods {
		if rapid.Bool().Draw(t, w.Alias(pod.Name)) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// Moves is what the plans of every kind do with pods.
type Moves struct {
	Create  []rollout.PodCreation
	Delete  []*corev1.Pod
	Patch   []rollout.PodPatch
	Waiting []rollout.Wait
}

// CheckOnce fails when a pod is created, deleted or patched more than once.
func (m Moves) CheckOnce(t TB) {
	t.Helper()
	seen := map[string]bool{}
	once := func(pod *corev1.Pod) {
		if seen[pod.Name] {
			t.Fatalf("pod %s is changed twice", pod.Name)
		}
		seen[pod.Name] = true
	}
	for _, c := range m.Create {
		once(c.Pod)
	}
	for _, pod := range m.Delete {
		once(pod)
	}
	for _, p := range m.Patch {
		once(p.Pod)
	}
}

// Decisions returns what is done and what waits, in words and sorted, so that
// two plans can be compared.
func (m Moves) Decisions() (out []string) {
	for _, c := range m.Create {
		out = append(out, fmt.Sprintf("create %s %s", c.Pod.Name, c.Pod.Labels["controller-revision-hash"]))
	}
	for _, pod := range m.Delete {
		out = append(out, "delete "+pod.Name)
	}
	for _, p := range m.Patch {
		out = append(out, fmt.Sprintf("%s %s", p.Kind, p.Pod.Name))
	}
	for _, wait := range m.Waiting {
		out = append(out, "wait "+wait.String())
	}
	slices.Sort(out)
	return out
}
