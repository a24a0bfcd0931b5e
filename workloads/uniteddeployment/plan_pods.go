// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UnreadyFor is how long a pod that was ready is left while the update of its StatefulSet waits for it.
// Most are ready again by then. (UD-11.2)
const UnreadyFor = 5 * time.Minute

// RuleUnready is why a pod in Plan.Blocking is left: it has not been ready for less than UnreadyFor.
const RuleUnready rollout.Rule = "Unready"

// planPods deletes the pod that a StatefulSet of Kubernetes waits for, if its update would replace
// it: one of each subset at most. (UD-11)
func (p *planner) planPods() {
	if p.plan.Kind != StatefulSet {
		return
	}
	byOwner := map[types.UID][]*corev1.Pod{}
	for _, pod := range p.pods() {
		byOwner[controllerOf(pod)] = append(byOwner[controllerOf(pod)], pod)
	}
	for i := range p.plan.Subsets {
		subset := &p.plan.Subsets[i]
		c := subset.Child
		if c == nil || !c.Partitioned || !c.Observed || c.Revision != p.revision || !c.scaled(subset.Replicas, subset.Partition) {
			continue
		}
		pod, ordinal := c.waitsFor(byOwner[c.Object.GetUID()])
		if pod == nil || pod.Labels[v1alpha1.SubsetRevisionLabel] == p.revision || ordinal-c.start < subset.Partition {
			continue
		}
		if left := p.leftFor(pod); left > 0 {
			p.plan.Blocking = append(p.plan.Blocking, pod)
			p.again(left)
			continue
		}
		p.plan.DeletePods = append(p.plan.DeletePods, pod)
	}
}

// waitsFor returns the pod that a StatefulSet waits for, and its ordinal. It is the first that is not
// ready, from the lowest on, or from the highest if it creates all at once. Nil if there is none, or one
// before it is missing or about to be, which the StatefulSet makes itself. (UD-11.1)
func (c *Child) waitsFor(pods []*corev1.Pod) (*corev1.Pod, int32) {
	byOrdinal := make(map[int32]*corev1.Pod, len(pods))
	for _, pod := range pods {
		if _, ordinal, ok := podplan.SplitOrdinal(pod.Name); ok {
			byOrdinal[ordinal] = pod
		}
	}
	for i := range c.Replicas {
		ordinal := c.start + i
		if c.parallel {
			ordinal = c.start + c.Replicas - 1 - i
		}
		switch pod := byOrdinal[ordinal]; {
		case pod == nil || podstate.Ended(pod) || pod.DeletionTimestamp != nil:
			return nil, 0
		case !lifecycle.Ready(pod):
			return pod, ordinal
		}
	}
	return nil, 0
}

// leftFor is how long a pod that is not ready is left; 0 if it never was ready, or has not
// been for long. (UD-11.2)
func (p *planner) leftFor(pod *corev1.Pod) time.Duration {
	if podstate.NeverReady(pod, pod.CreationTimestamp.Time) {
		return 0
	}
	c := readiness.Condition(pod, corev1.PodReady)
	if c == nil || c.Status == corev1.ConditionTrue { // what makes it not ready has no time, and is not its containers
		return UnreadyFor
	}
	return max(0, UnreadyFor-p.Now.Sub(c.LastTransitionTime.Time))
}

// pods returns the pods of the UnitedDeployment: a label that holds no more than a hash may be
// on those of another.
func (p *planner) pods() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool {
		return pod == nil || pod.Namespace != p.Set.Namespace || !p.match.Matches(labels.Set(pod.Labels))
	})
}
