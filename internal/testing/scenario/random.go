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

// PodChanges is what the plans of every kind do with pods.
type PodChanges struct {
	Create  []rollout.PodCreation
	Delete  []*corev1.Pod
	Patch   []rollout.PodPatch
	Waiting []rollout.Wait
}

// CheckOnce fails when a pod is created, deleted or patched more than once.
func (c PodChanges) CheckOnce(t TB) {
	t.Helper()
	seen := map[string]bool{}
	once := func(pod *corev1.Pod) {
		if seen[pod.Name] {
			t.Fatalf("pod %s is changed twice", pod.Name)
		}
		seen[pod.Name] = true
	}
	for _, creation := range c.Create {
		once(creation.Pod)
	}
	for _, pod := range c.Delete {
		once(pod)
	}
	for _, p := range c.Patch {
		once(p.Pod)
	}
}

// Decisions returns what is done and what waits, in words and sorted, so that
// two plans can be compared.
func (c PodChanges) Decisions() (out []string) {
	for _, creation := range c.Create {
		out = append(out, fmt.Sprintf("create %s %s", creation.Pod.Name, creation.Pod.Labels["controller-revision-hash"]))
	}
	for _, pod := range c.Delete {
		out = append(out, "delete "+pod.Name)
	}
	for _, p := range c.Patch {
		out = append(out, fmt.Sprintf("%s %s", p.Kind, p.Pod.Name))
	}
	for _, wait := range c.Waiting {
		out = append(out, "wait "+wait.String())
	}
	slices.Sort(out)
	return out
}
