// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// policy has the first container restarted, or not, when a resource of it changes.
func policy(name corev1.ResourceName, restart corev1.ResourceResizeRestartPolicy) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		c := &pod.Spec.Containers[0]
		c.ResizePolicy = append(c.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: restart})
	}
}

// requests and limits give the first container a resource more.
func requests(name corev1.ResourceName, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { set(&pod.Spec.Containers[0].Resources.Requests, name, value) }
}

func limits(name corev1.ResourceName, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { set(&pod.Spec.Containers[0].Resources.Limits, name, value) }
}

func set(l *corev1.ResourceList, name corev1.ResourceName, value string) {
	if *l == nil {
		*l = corev1.ResourceList{}
	}
	(*l)[name] = resource.MustParse(value)
}

func all(changes ...func(*corev1.Pod)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for _, change := range changes {
			change(pod)
		}
	}
}

func TestUpdateOf(t *testing.T) {
	const update, resize = v1alpha1.PubUpdateOperation, v1alpha1.PubResizeOperation
	held, image := label(v1alpha1.UnavailablePodLabelPrefix+"a", ""), func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "nginx:2" }
	small, large := all(requests("cpu", "1"), requests("memory", "1Gi")), all(requests("cpu", "2"), requests("memory", "1Gi"))
	side := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
				Resources: corev1.ResourceRequirements{Requests: list("cpu", value)}}}
		}
	}
	own := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", value)} }
	}
	static := annotate(corev1.MirrorPodAnnotationKey, "hash")
	for _, tt := range []struct {
		name          string
		before, after func(*corev1.Pod)
		want          v1alpha1.PubOperation
	}{
		{"PUB-18: nothing", none, none, ""},
		{"PUB-18: an image", none, image, update},
		{"PUB-18: a label", none, label("a", "b"), ""},
		{"PUB-18: the first label of that kind", none, held, update},
		{"PUB-18: the second", held, all(held, label(v1alpha1.UnavailablePodLabelPrefix+"b", "")), ""},
		{"PUB-18: it goes", held, none, ""},
		{"PUB-18: a toleration", none, func(pod *corev1.Pod) { pod.Spec.Tolerations = []corev1.Toleration{{}} }, update},
		{"PUB-18: the status alone", none, unready, ""},
		{"PUB-18: a container more", none, func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "b"}) }, update},
		{"PUB-18: a container less", func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "b"}) }, none, update},

		{"PUB-19: without a policy", small, large, resize},
		{"PUB-19: a policy without a value", all(small, policy("cpu", "")), all(large, policy("cpu", "")), resize},
		{"PUB-19: not required", all(small, policy("cpu", corev1.NotRequired)), all(large, policy("cpu", corev1.NotRequired)), resize},
		{"PUB-19: with a restart", all(small, policy("cpu", corev1.RestartContainer)), all(large, policy("cpu", corev1.RestartContainer)), update},
		{"PUB-19: with a restart, of a limit", all(small, limits("cpu", "4"), policy("cpu", corev1.RestartContainer)), all(small, limits("cpu", "5"), policy("cpu", corev1.RestartContainer)), update},
		{"PUB-19: with a restart, if the other resource changed", all(small, policy("memory", corev1.RestartContainer)), all(large, policy("memory", corev1.RestartContainer)), resize},
		{"PUB-19: a limit", all(small, limits("cpu", "4")), all(small, limits("cpu", "5")), resize},
		{"PUB-19: a limit that appears", small, all(small, limits("cpu", "5")), resize},
		{"PUB-19: a limit that goes", all(small, limits("cpu", "4")), small, resize},
		{"PUB-19: a limit that appears, with a restart", all(small, policy("cpu", corev1.RestartContainer)), all(small, limits("cpu", "5"), policy("cpu", corev1.RestartContainer)), update},
		{"PUB-19: the same quantity, written otherwise", small, all(small, requests("cpu", "1000m")), ""},
		{"PUB-19: of a second container", all(small, func(pod *corev1.Pod) { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "b"}) }), all(small, func(pod *corev1.Pod) {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "b", Resources: corev1.ResourceRequirements{Limits: list("cpu", "1")}})
		}), resize},
		{"PUB-19: the policy itself", all(small, policy("cpu", corev1.NotRequired)), all(large, policy("cpu", corev1.RestartContainer)), update},
		{"PUB-19: another resource", small, all(small, requests("ephemeral-storage", "1Gi")), update},
		{"PUB-19: another resource that stays", all(small, requests("ephemeral-storage", "1Gi")), all(large, requests("ephemeral-storage", "1Gi")), resize},
		{"PUB-19: claims", small, all(large, func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} }), update},
		{"PUB-19: and an image", small, all(large, image), update},
		{"PUB-19: and the first label", small, all(large, held), update},
		{"PUB-19: and another label", small, all(large, label("a", "b")), resize},
		{"PUB-19: of a native sidecar", side("1"), side("2"), update},
		{"PUB-19: beside a native sidecar", all(small, side("1")), all(large, side("1")), resize},
		{"PUB-19: the QoS class changes", none, small, update},
		{"PUB-19: the QoS class changes, to Guaranteed", small, all(small, limits("cpu", "1"), limits("memory", "1Gi")), update},
		{"PUB-19: of the pod", own("1"), own("2"), update},
		{"PUB-19: within those of the pod, which decide its QoS class", own("3"), all(own("3"), small), resize},
		{"PUB-19: of a static pod", all(static, small), all(static, large), update},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, after := newPod("pod", tt.before), newPod("pod", tt.after)
			if got := budget.UpdateOf(before, after); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if again := budget.UpdateOf(before, after); again != tt.want {
				t.Errorf("asked again it says %q, so that it changed the pods", again)
			}
		})
	}
}

// Which lists protect from a resize. What is allowed is booked as an update is. (PUB-14.5, PUB-14.11, PUB-19)
func TestDecideResize(t *testing.T) {
	const resize, no, booked = v1alpha1.PubResizeOperation, budget.ReasonNothingAllowed, "9 available, 9 desired, 0 allowed; updated"
	for _, tt := range []struct {
		list                    string
		either, alone, roomLeft string // the answer by default, with ResizesAlone, and with that if one may go
	}{
		{"", no, "allowed", "allowed"},
		{"DELETE,EVICT", "allowed", "allowed", "allowed"},
		{"UPDATE", no, "allowed", "allowed"},
		{"RESIZE", no, no, booked},
		{"UPDATE,RESIZE", no, no, booked},
	} {
		ask := func(b *v1alpha1.PodUnavailableBudget, alone bool) string {
			d := budget.Decide(b, newPod("pod"), budget.Request{Operation: resize, ResizesAlone: alone, Now: after(1)})
			switch _, updated := pick(d.Status).UnavailablePods["pod"]; {
			case d.Status != nil && updated && len(d.Status.DisruptedPods) == 0:
				return numbers(d.Status) + "; updated"
			case d.Allowed && d.Status == nil:
				return "allowed"
			}
			return d.Reason
		}
		full, room := newBudget(func(b *v1alpha1.PodUnavailableBudget) { b.Status.UnavailableAllowed = 0 }, protecting(tt.list)), newBudget(protecting(tt.list))
		if got := [3]string{ask(full, false), ask(full, true), ask(room, true)}; got != [3]string{tt.either, tt.alone, tt.roomLeft} {
			t.Errorf("PUB-19: list %q: got %q, want %q, %q, %q", tt.list, got, tt.either, tt.alone, tt.roomLeft)
		}
	}
}

// pick returns the status of a decision, or an empty one.
func pick(s *v1alpha1.PodUnavailableBudgetStatus) *v1alpha1.PodUnavailableBudgetStatus {
	if s == nil {
		return &v1alpha1.PodUnavailableBudgetStatus{}
	}
	return s
}
