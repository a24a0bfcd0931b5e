// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/testing/fakecluster"
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
