// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// injections are what webhooks of others do to new pods: policies that keep pods off nodes,
// meshes, schedulers of tenants. None of them makes a node unfit.
var injections = []injection{
	{"labels", func(pod *corev1.Pod) {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels["injected"] = "true"
	}},
	{"tolerations", func(pod *corev1.Pod) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: "injected", Operator: corev1.TolerationOpExists})
	}},
	{"expressions beside all required terms", func(pod *corev1.Pod) {
		forTerms(pod, func(term *corev1.NodeSelectorTerm) {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: "pool", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"gpu"}})
		})
	}},
	{"fields beside all required terms", func(pod *corev1.Pod) {
		forTerms(pod, func(term *corev1.NodeSelectorTerm) {
			term.MatchFields = append([]corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"virtual"}}}, term.MatchFields...)
		})
	}},
}

// reshapings are injections that change containers and annotations.
var reshapings = []injection{
	{"a container", func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "injected", Image: "injected:1"})
	}},
	{"annotations", func(pod *corev1.Pod) {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["injected"] = "true"
	}},
	{"requests", func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")}
		}
	}},
}

// injection is what one webhook does to a new pod.
type injection struct {
	what   string
	inject func(*corev1.Pod)
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

// installInjections has the API server ask webhooks of others about new pods, all through the
// history of every other seed.
func (h *history) installInjections() {
	if !h.workload.Injected || h.seed%2 == 0 {
		return
	}
	all := injections
	if h.workload.Reshaped {
		all = slices.Concat(injections, reshapings)
	}
	r := h.random(-1)
	first, second := all[r.IntN(len(all))], all[r.IntN(len(all))]
	h.say("webhooks of others inject %s and %s into new pods", first.what, second.what)
	h.server.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
		if request.Verb != "create" || request.Resource != pods || request.Subresource != "" {
			return
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
			return // the API server refuses it
		}
		first.inject(&pod)
		second.inject(&pod)
		if injected, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod); err == nil {
			object.Object = injected
		}
	})
}
