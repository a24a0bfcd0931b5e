// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// injections are what webhooks of others do to new pods: policies that keep pods off nodes,
// meshes, schedulers of tenants. None of them makes a node unfit.
var injections = []struct {
	what   string
	inject func(*corev1.Pod)
}{
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
	r := h.random(-1)
	first, second := r.IntN(len(injections)), r.IntN(len(injections))
	h.say("webhooks of others inject %s and %s into new pods", injections[first].what, injections[second].what)
	h.server.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
		if request.Verb != "create" || request.Resource != pods || request.Subresource != "" {
			return
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &pod); err != nil {
			return // the API server refuses it
		}
		injections[first].inject(&pod)
		injections[second].inject(&pod)
		if injected, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod); err == nil {
			object.Object = injected
		}
	})
}
