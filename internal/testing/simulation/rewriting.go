// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// inTarget is a readiness gate of others: a load balancer says that it sends requests to a pod.
const inTarget corev1.PodConditionType = "balancer.example.com/in-target"

// rewritings are what webhooks of others change about what pods run, and when they are ready. They are meshes, load balancers, and
// autoscalers of resources, and mirrors of registries if images are mirrored.
func rewritings(mirrored bool) []injection {
	all := slices.Clone(reshaping)
	if mirrored {
		all = slices.Insert(all, len(all)-1, mirror)
	}
	return all
}

// reshaping is what they do but for mirrors.
var reshaping = []injection{
	{"a container", false, func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "mesh", Image: "mesh:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}})
	}},
	{"annotations", false, func(pod *corev1.Pod) {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "mesh.example.com/status", `{"version":"1"}`)
	}},
	{"a readiness gate", false, func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: inTarget})
	}},
	{"requests", false, func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			if requests := pod.Spec.Containers[i].Resources.Requests; requests.Cpu().IsZero() {
				pod.Spec.Containers[i].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("250m")}
			} else {
				requests["cpu"] = resource.MustParse("1500m")
			}
		}
	}},
}

// mirror is a registry that serves the images of all others. Pods get its images at creation and at each update.
var mirror = injection{"images of a mirror", true, rename}

// mirrorOnce gives pods its images when they are created. Images that they get later stay.
var mirrorOnce = injection{"images of a mirror at creation alone", false, rename}

// rename gives images the names that they have in the mirror.
func rename(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if c := &containers[i]; c.Image != "" && !strings.HasPrefix(c.Image, invariants.Mirror) {
				c.Image = invariants.Mirror + c.Image
			}
		}
	}
}

// balance has the load balancer say whether it sends requests to a pod, if that has its gate. It does while the containers are ready.
func (h *history) balance(pod *corev1.Pod) error {
	if pod.DeletionTimestamp != nil || !slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == inTarget }) {
		return nil
	}
	status := func(of corev1.PodConditionType) corev1.ConditionStatus {
		for _, c := range pod.Status.Conditions {
			if c.Type == of {
				return c.Status
			}
		}
		return corev1.ConditionFalse
	}
	if want := status(corev1.ContainersReady); want != status(inTarget) {
		(&User{history: h, kind: h.kinds[0], name: "balancer"}).PatchPod(pod.Name, fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":%q}]}}`, inTarget, want), "status")
		return h.settle()
	}
	return nil
}
