// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// injection is what a webhook of others does to pods.
type injection struct {
	what    string
	updates bool // it does it to each update, too
	inject  func(*corev1.Pod)
}

// injections come from policies that keep pods off nodes, from meshes, from schedulers of tenants. None of them makes a node unfit.
var injections = []injection{
	{"labels", false, func(pod *corev1.Pod) {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels["injected"] = "true"
	}},
	{"tolerations", false, func(pod *corev1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "injected", Operator: corev1.TolerationOpExists})
	}},
	{"expressions beside all required terms", false, func(pod *corev1.Pod) {
		forTerms(pod, func(term *corev1.NodeSelectorTerm) {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: "pool", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"gpu"}})
		})
	}},
	{"fields beside all required terms", false, func(pod *corev1.Pod) {
		forTerms(pod, func(term *corev1.NodeSelectorTerm) {
			term.MatchFields = append([]corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"virtual"}}}, term.MatchFields...)
		})
	}},
}

// forTerms changes all required terms of a pod, and the one that it then gets if it has none.
func forTerms(pod *corev1.Pod, change func(*corev1.NodeSelectorTerm)) {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	affinity := pod.Spec.Affinity
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	node := affinity.NodeAffinity
	if node.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, 1)}
	}
	terms := node.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		change(&terms[i])
	}
}

// installInjections has the API server ask webhooks of others about pods, all through the
// history of every other seed. If these do nothing but mirror images, they do that in every history: in half of
// them when pods are created alone.
func (h *history) installInjections() {
	var all []injection
	if h.workload.Injected {
		all = injections
	}
	if h.workload.Rewritten {
		all = slices.Concat(all, rewritings(h.workload.Mirrored), injections[:1])
	}
	only := h.workload.OnlyMirrored
	if only {
		all = []injection{mirror}
		if h.seed/2%2 == 1 {
			all = []injection{mirrorOnce}
		}
	}
	if len(all) == 0 || h.seed%2 == 0 && !only {
		return
	}
	r := h.random(-1)
	first, second := all[r.IntN(len(all))], all[r.IntN(len(all))]
	if first.updates { // it is asked last, about what the other one has made
		first, second = second, first
	}
	h.say("webhooks of others inject %s and %s into pods", first.what, second.what)
	h.server.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
		if request.Resource != pods || request.Subresource != "" || request.Verb == "delete" {
			return
		}
		isNew := request.Verb == "create"
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
			return // the API server refuses it
		}
		for _, injection := range []injection{first, second} {
			if isNew || injection.updates {
				injection.inject(&pod)
			}
		}
		if injected, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod); err == nil {
			object.Object = injected
		}
	})
}

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
func (h *history) balance(pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil || !slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == inTarget }) {
		return
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
		h.settle()
	}
}
