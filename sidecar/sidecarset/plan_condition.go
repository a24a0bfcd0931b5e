// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// patchUpgradable is the kind of patches that say on a pod whether it can be updated in place.
const patchUpgradable rollout.PatchKind = "Upgradable"

// planUpgradable has pods say whether they can be updated in place, if that has changed. A pod that is written
// otherwise says so in the next reconcile. (SCS-33)
func (p *planner) planUpgradable() {
	strategy := &p.set.Spec.UpdateStrategy
	if !p.Features.UpgradableCondition || len(p.sidecars) == 0 || p.chosen == nil || strategy.Paused || strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		return
	}
	for _, pod := range p.pods {
		if pod.Patch != nil {
			continue
		}
		said := saidUpgradable(pod.Pod)
		before := len(said)
		maps.DeleteFunc(said, func(name string, _ bool) bool { return p.Gone[name] })
		is, known := said[p.Set.Name]
		able := pod.Updated || p.recordedHash(pod.Pod, v1alpha1.SidecarSetHashWithoutImageAnnotation) == p.hashes.WithoutImage
		switch {
		case able && known && is, able && !known && !(pod.Updated && p.statesOf(pod).some), !able && known && !is,
			!able && !p.chosen.Matches(labels.Set(pod.Labels)): // that stands, or goes without saying
			if len(said) == before {
				continue
			}
		default:
			said[p.Set.Name] = able
		}
		patch := pod.Change(patchUpgradable)
		patch.IfUnchanged = true // others say so, too
		patch.SetCondition(upgradableCondition(pod.Pod, said, metav1.NewTime(p.Now)))
	}
}

// saidUpgradable is what SidecarSets have said on a pod; nothing, if that cannot be read.
func saidUpgradable(pod *corev1.Pod) map[string]bool {
	var said map[string]bool
	if c := readiness.Condition(pod, v1alpha1.SidecarSetUpgradable); c == nil || json.Unmarshal([]byte(c.Message), &said) != nil || said == nil {
		return map[string]bool{}
	}
	return said
}

// upgradableCondition is the condition of a pod about which SidecarSets say this.
func upgradableCondition(pod *corev1.Pod, said map[string]bool, now metav1.Time) corev1.PodCondition {
	c := corev1.PodCondition{Type: v1alpha1.SidecarSetUpgradable, Status: corev1.ConditionTrue, Reason: v1alpha1.AllSidecarSetUpgradableReason, LastTransitionTime: now}
	for is := range maps.Values(said) {
		if !is {
			c.Status, c.Reason = corev1.ConditionFalse, v1alpha1.UpdateImmutableFieldReason
		}
	}
	if before := readiness.Condition(pod, c.Type); before != nil && before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
	}
	message, _ := json.Marshal(said) // names and truth values
	c.Message = string(message)
	return c
}
