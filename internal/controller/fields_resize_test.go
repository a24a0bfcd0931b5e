// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestResizeChanges: for pods that are resized it always matters what they are to have, and whether their nodes report
// what they have. The progress of a resize matters only while one is under way. So a heartbeat costs nothing.
func TestResizeChanges(t *testing.T) {
	has := func(cpu string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}
	}
	pending := func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizePending, Status: "True", Reason: "Deferred", ObservedGeneration: 2})
	}
	last := func(p *corev1.Pod) *corev1.PodCondition { return &p.Status.Conditions[len(p.Status.Conditions)-1] }
	for name, test := range map[string]struct {
		change         func(*corev1.Pod)
		always, during bool
	}{
		"what it is to have":            {func(p *corev1.Pod) { p.Spec.Containers[0].Resources = *has("2") }, true, true},
		"the same in another notation":  {func(p *corev1.Pod) { p.Spec.Containers[0].Resources = *has("1000m") }, false, false},
		"nothing is reported":           {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = nil }, true, true},
		"what it has":                   {func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Resources = has("2") }, false, true},
		"what the kubelet has seen":     {func(p *corev1.Pod) { p.Status.ObservedGeneration = 2 }, false, true},
		"a condition":                   {func(p *corev1.Pod) { p.Status.Conditions = p.Status.Conditions[:5] }, false, true},
		"its reason":                    {func(p *corev1.Pod) { last(p).Reason = "Infeasible" }, false, true},
		"its message":                   {func(p *corev1.Pod) { last(p).Message = "no cpu" }, false, true},
		"the spec that it is about":     {func(p *corev1.Pod) { last(p).ObservedGeneration = 1 }, false, true},
		"when the kubelet looked at it": {func(p *corev1.Pod) { last(p).LastProbeTime = p.Status.Conditions[0].LastTransitionTime }, false, false},
		"it is in progress": {func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodResizeInProgress, Status: "True"})
		}, false, true},
	} {
		for _, during := range []bool{false, true} {
			before := runningPod()
			before.Spec.Containers[0].Resources, before.Status.ContainerStatuses[0].Resources, before.Status.ObservedGeneration = *has("1"), has("1"), 1
			pending(before)
			if during {
				before.Annotations["apps.kruise.io/inplace-update-state"] = `{"nextContainerResources":{}}`
			}
			after := before.DeepCopy()
			test.change(after)
			want := test.always || during && test.during
			if got := Changed(before, after, Resize) != 0; got != want {
				t.Errorf("%s, during a resize %t: matters %t, want %t", name, during, got, want)
			}
		}
	}
}
