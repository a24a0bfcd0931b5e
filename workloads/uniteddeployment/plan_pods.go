// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planPods deletes the pods that a StatefulSet of Kubernetes waits for and that its update
// would replace: one that is not ready keeps it from updating any. (UD-11)
func (p *planner) planPods() {
	if p.plan.Kind != StatefulSet {
		return
	}
	waiting := map[string]*SubsetPlan{}
	for i := range p.plan.Subsets {
		subset := &p.plan.Subsets[i]
		if c := subset.Child; c != nil && c.Partitioned && c.Observed && c.Revision == p.revision && c.scaled(subset.Replicas, subset.Partition) {
			waiting[subset.Name] = subset
		}
	}
	for _, pod := range p.pods() {
		subset := waiting[subsetOf(pod.Labels)]
		if subset == nil || !metav1.IsControlledBy(pod, subset.Child.Object) || pod.DeletionTimestamp != nil ||
			pod.Labels[v1alpha1.SubsetRevisionLabel] == p.revision || lifecycle.Ready(pod) {
			continue
		}
		if _, ordinal, ok := podplan.SplitOrdinal(pod.Name); ok && ordinal >= subset.Partition {
			p.plan.DeletePods = append(p.plan.DeletePods, pod)
		}
	}
}

// pods returns the pods of the UnitedDeployment: a label that holds no more than a hash may be
// on those of another.
func (p *planner) pods() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(p.Pods), func(pod *corev1.Pod) bool {
		return pod == nil || pod.Namespace != p.Set.Namespace || !p.match.Matches(labels.Set(pod.Labels))
	})
}
