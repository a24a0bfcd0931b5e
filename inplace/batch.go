// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// nextBatch splits a change into what is written now and what waits (IP-15, IP-16). Now
// come the containers without a launch priority and, of those with one, the highest
// present. Then come those that share a changed label or annotation with them: it cannot
// be changed for one container alone.
func nextBatch(pod *corev1.Pod, c change) (batch, rest change) {
	if c.atOnce(pod) { // as most are
		return c, change{}
	}
	now := firstContainers(pod, c)
	pullSharing(now, c)
	batch = change{images: map[string]string{}, refs: map[string]metav1.ObjectMeta{}}
	rest = change{images: map[string]string{}, refs: map[string]metav1.ObjectMeta{}}
	for _, name := range c.containers() {
		if now[name] {
			batch.take(c, name)
		} else {
			rest.take(c, name)
		}
	}
	return batch, rest
}

// atOnce tells whether all containers of a change get it in the first batch, as far as that is seen at a glance. That
// is if no container has a launch priority.
func (c change) atOnce(pod *corev1.Pod) bool {
	for i := range pod.Spec.Containers {
		if _, ordered := barrier.Priority(&pod.Spec.Containers[i]); ordered {
			return false
		}
	}
	return true
}

// firstContainers returns the containers of the change that come first by
// launch priority.
func firstContainers(pod *corev1.Pod, c change) map[string]bool {
	first := map[string]bool{}
	var highest []string
	var highestPriority int
	for i := range pod.Spec.Containers {
		name := pod.Spec.Containers[i].Name
		if !c.has(name) {
			continue
		}
		priority, ok := barrier.Priority(&pod.Spec.Containers[i])
		switch {
		case !ok:
			first[name] = true
		case len(highest) == 0 || priority > highestPriority:
			highest, highestPriority = []string{name}, priority
		case priority == highestPriority:
			highest = append(highest, name)
		}
	}
	for _, name := range highest {
		first[name] = true
	}
	return first
}

// pullSharing adds to now every container that shares a changed key with one
// that is there, until there is no more such container.
func pullSharing(now map[string]bool, c change) {
	changed := map[metadataKey]bool{}
	for grown := true; grown; {
		grown = false
		for name, ref := range c.refs {
			if !now[name] && !shares(ref, changed) {
				continue
			}
			before := len(changed)
			now[name] = true
			for key := range ref.Labels {
				changed[metadataKey{labelMap, key}] = true
			}
			for key := range ref.Annotations {
				changed[metadataKey{annotationMap, key}] = true
			}
			grown = grown || len(changed) > before
		}
	}
}

func shares(ref metav1.ObjectMeta, changed map[metadataKey]bool) bool {
	for key := range ref.Labels {
		if changed[metadataKey{labelMap, key}] {
			return true
		}
	}
	for key := range ref.Annotations {
		if changed[metadataKey{annotationMap, key}] {
			return true
		}
	}
	return false
}
