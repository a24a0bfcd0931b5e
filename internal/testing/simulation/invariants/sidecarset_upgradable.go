// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// checkUpgradable: a pod says something else than before of the SidecarSet, which is so, or what a SidecarSet has said that is gone goes. Of the
// others it says the same. (SCS-33)
func (j *sidecarSetJudge) checkUpgradable(before, after *corev1.Pod) {
	if strategy := &j.set.Spec.UpdateStrategy; strategy.Paused || strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		j.add(Needless, "says of pod %s whether it can be updated, and nothing is", before.Name)
	}
	if !j.matches(before, j.Known) {
		j.add(Ownership, "says of pod %s whether it can be updated, which is not one of the SidecarSet", before.Name)
	}
	is, was := upgradability(after), upgradability(before)
	said := len(was)
	maps.DeleteFunc(was, func(name string, _ bool) bool { return j.gone(j.Known, name) })
	dropped := len(was) < said
	able, says := is[j.set.Name]
	past, knew := was[j.set.Name]
	switch want := j.isUpdated(before) || j.upgradable(before); {
	case says == knew && able == past && dropped: // it takes out what another one has said
	case says == knew && able == past:
		j.add(Needless, "says of pod %s that it can be updated, %t, as it said before", before.Name, able)
	case !says || able != want:
		j.add(Status, "says of pod %s that it can be updated, %t, want %t", before.Name, able, want)
	default:
		was[j.set.Name] = able
	}
	c, want := condition(after, "SidecarSetUpgradable"), corev1.ConditionTrue
	if slices.Contains(slices.Collect(maps.Values(is)), false) {
		want = corev1.ConditionFalse
	}
	if !maps.Equal(is, was) || c == nil || c.Status != want {
		j.add(Status, "says of pod %s %v, and it said %v: %+v", before.Name, is, was, c)
	}
	rest := after.DeepCopy()
	rest.Status.Conditions, rest.ResourceVersion, rest.ManagedFields = before.Status.Conditions, before.ResourceVersion, before.ManagedFields
	if !equality.Semantic.DeepEqual(before, rest) || !slices.EqualFunc(otherConditions(before), otherConditions(after), sameCondition) {
		j.add(InPlace, "changes more of pod %s than what it says of updates", before.Name)
	}
}

// checkSaid: no pod goes on to say what is not so of the SidecarSet, unless nothing is updated. (SCS-33)
func (j *sidecarSetJudge) checkSaid(s *State) {
	strategy := &j.set.Spec.UpdateStrategy
	if !j.contract.UpgradableCondition || strategy.Paused || strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType || j.confused || len(j.set.Spec.Containers) == 0 {
		return
	}
	for _, pod := range j.matching(s) {
		able := j.isUpdated(pod) || j.upgradable(pod)
		said, is := upgradability(pod)[j.set.Name]
		for name := range upgradability(pod) {
			if j.gone(s, name) {
				j.add(Settled, "pod %s goes on to say what SidecarSet %s has said, which is gone", pod.Name, name)
			}
		}
		if chosen := j.chosen.Matches(labels.Set(pod.Labels)); able && is && !said || !able && chosen && (!is || said) {
			j.add(Settled, "pod %s says that it can be updated, %t, want %t", pod.Name, said, able)
		}
	}
}

// gone tells whether there is no SidecarSet of a name. (SCS-33)
func (j *sidecarSetJudge) gone(s *State, name string) bool {
	return name != j.set.Name && s.Further["sidecarsets"][name] == nil
}

// upgradability is what SidecarSets have said on a pod.
func upgradability(pod *corev1.Pod) map[string]bool {
	said := map[string]bool{}
	if c := condition(pod, "SidecarSetUpgradable"); c != nil && json.Unmarshal([]byte(c.Message), &said) != nil {
		return map[string]bool{}
	}
	return said
}

func otherConditions(pod *corev1.Pod) []corev1.PodCondition {
	return slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool { return c.Type == "SidecarSetUpgradable" })
}

func sameCondition(a, b corev1.PodCondition) bool { return equality.Semantic.DeepEqual(a, b) }
