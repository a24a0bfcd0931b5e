// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/images"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
)

// names returns the names of the nodes that the spec selects, in the order in
// which they get their tasks. Some may have no NodeImage. (IMG-1.3)
func (p *planner) names() ([]string, error) {
	spec := &p.Job.Spec
	switch {
	case spec.PodSelector != nil && spec.Selector != nil:
		return nil, fmt.Errorf("spec.podSelector: is set beside spec.selector; at most one of them can select the nodes")
	case spec.PodSelector != nil:
		return p.nodesOfPods()
	case spec.Selector != nil && len(spec.Selector.Names) > 0:
		return distinct(spec.Selector.Names), nil
	}
	matcher, err := nodeMatcher(spec.Selector)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(p.NodeImages)) {
		if matcher.Matches(labels.Set(p.NodeImages[name].Labels)) {
			names = append(names, name)
		}
	}
	return names, nil
}

// nodeMatcher matches the labels of the nodes that a selector without names
// selects. Nil selects all.
func nodeMatcher(selector *v1alpha1.ImagePullJobNodeSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	matcher, err := metav1.LabelSelectorAsSelector(images.NodeLabels(selector))
	if err != nil {
		return nil, fmt.Errorf("spec.selector: %w", err)
	}
	return matcher, nil
}

// nodesOfPods returns the nodes of the pods that podSelector selects.
func (p *planner) nodesOfPods() ([]string, error) {
	matcher, err := metav1.LabelSelectorAsSelector(p.Job.Spec.PodSelector)
	if err != nil {
		return nil, fmt.Errorf("spec.podSelector: %w", err)
	}
	var pods []*corev1.Pod
	for _, pod := range p.Pods {
		if runs(pod) && matcher.Matches(labels.Set(pod.Labels)) {
			pods = append(pods, pod)
		}
	}
	pods = p.inUpdateOrder(pods)
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Spec.NodeName
	}
	return distinct(names), nil
}

// inUpdateOrder returns the pods in the order in which the workload that
// controls the job updates them, or else by name. A workload whose order cannot
// be read updates nothing: it tells so itself.
func (p *planner) inUpdateOrder(pods []*corev1.Pod) []*corev1.Pod {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	switch {
	case p.CloneSet != nil:
		strategy := &p.CloneSet.Spec.UpdateStrategy
		sorted, err := rollout.SortForUpdate(pods, rollout.UpdateOptions{Priority: strategy.PriorityStrategy, Scatter: strategy.ScatterStrategy})
		if err == nil {
			return sorted
		}
	case p.StatefulSet != nil:
		return p.byOrdinal(pods)
	}
	return pods
}

// byOrdinal puts the pods of a StatefulSet into its order: from the highest
// ordinal down, unless a priority says otherwise.
func (p *planner) byOrdinal(pods []*corev1.Pod) []*corev1.Pod {
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		_, i, _ := podplan.SplitOrdinal(a.Name)
		_, j, _ := podplan.SplitOrdinal(b.Name)
		return cmp.Compare(i, j)
	})
	var priority *inplacev1alpha1.UpdatePriorityStrategy
	if rolling := p.StatefulSet.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.UnorderedUpdate != nil {
		priority = rolling.UnorderedUpdate.PriorityStrategy
	}
	sorted, err := rollout.SortByPriority(pods, priority) // without a priority, it reverses them
	if err != nil {
		return pods
	}
	return sorted
}

// runs tells whether a pod holds its node: it is scheduled and has not ended.
func runs(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && podstate.Active(pod)
}

// distinct returns the names without those that have come already.
func distinct(names []string) []string {
	seen := make(map[string]bool, len(names))
	var out []string
	for _, name := range names {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
