// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// waits lists what pods wait for by the plan, those for the same thing together.
func waits(s *Situation) []Blocker {
	var all []Blocker
	for _, row := range s.Plan.Rows() {
		if row.Rule == "" {
			continue
		}
		same := slices.IndexFunc(all, func(b Blocker) bool { return b.Code == string(row.Rule) && b.Why == row.Detail })
		if same < 0 {
			all, same = append(all, Blocker{Code: string(row.Rule), Why: row.Detail, Ends: heldup.Of(row.Rule).Ends}), len(all)
		}
		all[same].Pods = append(all[same].Pods, row.Pod)
	}
	return all
}

// budgets finds PodUnavailableBudgets that allow nothing, and that pods wait for which are to be deleted or updated.
func budgets(s *Situation) []Blocker {
	var leaving []*corev1.Pod
	for _, d := range s.Plan.Delete {
		leaving = append(leaving, d.Pod)
	}
	for _, p := range s.Plan.Patch {
		if p.Kind == rollout.PatchUpdateInPlace {
			leaving = append(leaving, p.Pod)
		}
	}
	var all []Blocker
	for _, budget := range s.Budgets {
		if budget.Status.UnavailableAllowed > 0 {
			continue
		}
		b := Blocker{Code: "PodUnavailableBudget", Why: fmt.Sprintf("budget %s allows no further pod to be unavailable: %d of %d are available, %d must be",
			budget.Name, budget.Status.CurrentAvailable, budget.Status.TotalReplicas, budget.Status.DesiredAvailable),
			Ends: "more of its pods are available, or the budget is changed"}
		for _, pod := range leaving {
			if protects(budget, s, pod) {
				b.Pods = append(b.Pods, s.Plan.NameOf(pod))
			}
		}
		if len(b.Pods) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// protects tells whether a budget is about a pod. It is by its selector, or since its target is the workload that is
// explained, or the controller of the pod.
func protects(budget *availabilityv1alpha1.PodUnavailableBudget, s *Situation, pod *corev1.Pod) bool {
	if budget.Namespace != pod.Namespace {
		return false
	}
	if target := budget.Spec.TargetReference; target != nil {
		kind := schema.FromAPIVersionAndKind(target.APIVersion, target.Kind).GroupKind()
		if by := metav1.GetControllerOfNoCopy(pod); by != nil && by.Name == target.Name && schema.FromAPIVersionAndKind(by.APIVersion, by.Kind).GroupKind() == kind {
			return true
		}
		return kind == s.Object.GroupVersionKind().GroupKind() && target.Name == s.Object.GetName()
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels))
}

// requests finds ContainerRecreateRequests for the pods that no agent takes up.
func requests(s *Situation) []Blocker {
	var all []Blocker
	for _, request := range s.Requests {
		i := slices.IndexFunc(s.Plan.Pods, func(pod *corev1.Pod) bool {
			return pod.Name == request.Spec.PodName && pod.Namespace == request.Namespace
		})
		phase := cmp.Or(request.Status.Phase, lifecyclev1alpha1.ContainerRecreateRequestPending)
		if i < 0 || phase != lifecyclev1alpha1.ContainerRecreateRequestPending {
			continue
		}
		node := s.Plan.Pods[i].Spec.NodeName
		b := Blocker{Code: "RecreateRequest", Pods: []string{s.Plan.NameOf(s.Plan.Pods[i])}, Why: fmt.Sprintf("ContainerRecreateRequest %s is pending", request.Name),
			Ends: "the agent on the node takes it up"}
		if s.Agents != nil && !s.Agents[node] {
			b.Code, b.Why, b.Ends = "AgentMissing", fmt.Sprintf("%s, and no agent is ready on node %s", b.Why, node), "the agent runs there"
		}
		all = append(all, b)
	}
	return all
}
