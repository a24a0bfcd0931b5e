// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The keys by which a workload takes a pod out of service while a hook with
// markPodNotReady holds it. Pods carry them: they never change.
var (
	preDeleteKey = readiness.Key{UserAgent: "Lifecycle", Key: "preDeleteHook"}
	preUpdateKey = readiness.Key{UserAgent: "Lifecycle", Key: "preUpdateHook"}
)

// StateOf returns the pod's lifecycle state, empty if the pod has none. A
// pod without a state is treated as one in state Normal.
func StateOf(pod *corev1.Pod) v1alpha1.StateType {
	return v1alpha1.StateType(pod.Labels[v1alpha1.StateLabel])
}

// SetInitialState writes the state and its time into the metadata of a pod
// that is about to be created. That is PreparingNormal for a CloneSet, with or without
// hooks, and Normal for a StatefulSet.
func SetInitialState(meta *metav1.ObjectMeta, state v1alpha1.StateType, now time.Time) {
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Labels[v1alpha1.StateLabel] = string(state)
	meta.Annotations[v1alpha1.TimestampAnnotation] = now.Format(time.RFC3339)
}

// SetState brings the pod to a state: the state label and the time of the
// change. If the pod is in that state already nothing changes, and the time
// of the earlier change stays.
func SetState(p *podpatch.Patch, pod *corev1.Pod, state v1alpha1.StateType, now time.Time) {
	if StateOf(pod) == state {
		delete(p.Labels, v1alpha1.StateLabel)
		delete(p.Annotations, v1alpha1.TimestampAnnotation)
		return
	}
	p.SetLabel(v1alpha1.StateLabel, string(state))
	p.SetAnnotation(v1alpha1.TimestampAnnotation, now.Format(time.RFC3339))
}

// stateAfter is the state that the pod will have after the patch.
func stateAfter(p *podpatch.Patch, pod *corev1.Pod) v1alpha1.StateType {
	label, set := p.Labels[v1alpha1.StateLabel]
	switch {
	case !set:
		return StateOf(pod)
	case label == nil:
		return ""
	default:
		return v1alpha1.StateType(*label)
	}
}

// returnToService removes the keys by which hooks took the pod out of service.
// It returns whether it changed the patch.
func returnToService(p *podpatch.Patch, pod *corev1.Pod, now time.Time, keys ...readiness.Key) bool {
	changed := false
	for _, key := range keys {
		changed = readiness.Remove(p, pod, key, now) || changed
	}
	return changed
}
