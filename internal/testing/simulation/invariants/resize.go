// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// resized returns a spec with the cpu requests of another one, for containers that have one in both. Histories have no
// other resources, and none can come or go in place. (IP-35)
func resized(spec, to *corev1.PodSpec) *corev1.PodSpec {
	out := spec.DeepCopy()
	for i := range min(len(out.Containers), len(to.Containers)) {
		have, wanted := out.Containers[i].Resources.Requests, to.Containers[i].Resources.Requests
		if _, had := have[corev1.ResourceCPU]; had {
			if cpu, has := wanted[corev1.ResourceCPU]; has {
				have[corev1.ResourceCPU] = cpu
			}
		}
	}
	return out
}

// reportsResources tells whether the kubelet of a pod says what its containers have. (IP-37)
func reportsResources(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Ready && s.Resources == nil {
			return false
		}
	}
	return true
}

// checkResize: a container gets the cpu that the revision of its pod names and no other, least of all that of an
// earlier revision. It gets it by a separate request. If the container restarts for that, the pod is out of service. It
// returns the container as it was. (IP-36)
func checkResize(v *violations, w *Write, before, after *corev1.Container, target *corev1.PodTemplateSpec) {
	if equality.Semantic.DeepEqual(before.Resources, after.Resources) {
		return
	}
	pod, _ := w.pods()
	v.never(w.Subresource != "resize", InPlace, "changes resources of pod %s by %s", pod.Name, w.Subresource)
	if target != nil {
		for i := range target.Spec.Containers {
			if c := &target.Spec.Containers[i]; c.Name == after.Name && !equality.Semantic.DeepEqual(c.Resources, after.Resources) {
				v.add(InPlace, "gives container %s of pod %s the cpu %s, its revision says %s",
					c.Name, pod.Name, after.Resources.Requests.Cpu(), c.Resources.Requests.Cpu())
			}
		}
	}
	for _, p := range before.ResizePolicy {
		v.never(p.RestartPolicy == corev1.RestartContainer && hasGate(pod, "InPlaceUpdateReady") && !updating(pod), InPlace,
			"resizes container %s of pod %s, which restarts for it, while the pod is in service", before.Name, pod.Name)
	}
	after.Resources = before.Resources
}

// resizedInService tells whether an update changes nothing but cpu, of containers that need no
// restart for it: no hook is asked about that. (IP-36)
func resizedInService(w *Write, before, after *corev1.Pod) bool {
	templates := templatesOf(w.Truth.Revisions)
	from, to := templates[shortHash(before.Labels[revisionLabel])], templates[shortHash(after.Labels[revisionLabel])]
	if from == nil || to == nil || equality.Semantic.DeepEqual(from.Spec, to.Spec) || !equality.Semantic.DeepEqual(resized(&from.Spec, &to.Spec), &to.Spec) {
		return false
	}
	for i := range to.Spec.Containers {
		for _, p := range to.Spec.Containers[i].ResizePolicy {
			if p.RestartPolicy == corev1.RestartContainer {
				return false
			}
		}
	}
	return true
}

// checkResized: a pod asks for the cpu of its revision, whether its node has it or not. (IP-36)
func (j *cloneSetJudge) checkResized(s *State) {
	templates := templatesOf(s.Revisions)
	for _, pod := range s.Pods {
		t := templates[shortHash(pod.Labels[revisionLabel])]
		if t == nil || !j.owned(pod) || !active(pod) || inGrace(pod) || unreadable(pod) {
			continue
		}
		for i := range min(len(t.Spec.Containers), len(pod.Spec.Containers)) {
			if is, want := pod.Spec.Containers[i].Resources.Requests.Cpu(), t.Spec.Containers[i].Resources.Requests.Cpu(); is.Cmp(*want) != 0 {
				j.add(Settled, "pod %s asks for the cpu %s, its revision for %s", pod.Name, is, want)
			}
		}
	}
}

// resizeDeferred tells whether the node of a pod has no room for its new resources: it serves with those that it has. (IP-38)
func resizeDeferred(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonDeferred
	})
}
