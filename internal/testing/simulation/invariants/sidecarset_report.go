// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// selection is since when a SidecarSet selects what it does. (SCS-23)
type selection struct {
	uid     types.UID
	present string               // what it selects
	began   map[string]time.Time // since when it ever did
	told    time.Time            // when a controller that knew the present one wrote the status; zero: not yet
}

// selectionOf is what a SidecarSet selects, in one string.
func selectionOf(set *v1alpha1.SidecarSet) string {
	spec := &set.Spec
	data, err := json.Marshal([]any{spec.Selector, spec.Namespace, spec.NamespaceSelector, spec.InjectionStrategy.Paused})
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (s *selection) observe(set *v1alpha1.SidecarSet, at time.Time) {
	if s.uid != set.UID {
		*s = selection{uid: set.UID, began: map[string]time.Time{}}
	}
	is := selectionOf(set)
	if is == s.present {
		return
	}
	s.present, s.told = is, time.Time{}
	if _, known := s.began[is]; !known {
		s.began[is] = at
	}
}

// tell takes note of a write of the status. Without a revision of the spec, or if the answer
// to its creation was lost, it does not say what is selected.
func (s *selection) tell(j *sidecarSetJudge) {
	if s.told.IsZero() && !j.broken && j.set.UID == s.uid && selectionOf(j.Known.Workload.(*v1alpha1.SidecarSet)) == s.present && j.latest(j.Observed) != nil {
		s.told = j.Truth.Now
	}
}

// missed tells whether a pod was surely created while a controller knew that the SidecarSet
// selects it, or may have been. What is of the same second counts as before. (SCS-23)
func (s *selection) missed(set *v1alpha1.SidecarSet, pod *corev1.Pod) (surely, maybe bool) {
	began, told := s.began[s.present], s.told
	if set.Generation <= 1 {
		began, told = set.CreationTimestamp.Time, set.CreationTimestamp.Time
	}
	created := pod.CreationTimestamp.Time
	return !told.IsZero() && created.After(told.Truncate(time.Second)), created.After(began.Truncate(time.Second))
}

// noInjectionLabel is, on a namespace, the label with which no webhook hears of its pods.
const noInjectionLabel = "control-plane"

// checkReported: pods that only their owners can help are told, and no others. (SCS-14, SCS-22, SCS-23)
func (j *sidecarSetJudge) checkReported(s *State) {
	var lack, mayLack, differ, unreadable []string
	for _, name := range slices.Sorted(maps.Keys(s.Pods)) {
		pod := s.Pods[name]
		switch surely, maybe := j.lacks(pod, s); {
		case surely:
			lack = append(lack, name)
		case maybe:
			mayLack = append(mayLack, name)
		}
		switch {
		case !j.matches(pod, s) || j.set.Spec.UpdateStrategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType:
		case len(j.all) == 0 || j.isUpdated(pod) || j.upgradable(pod):
			if !j.contract.Natives && j.hasOtherInit(pod, true) { // otherwise it is updated
				differ = append(differ, name)
			}
		case j.unreadable(pod):
			unreadable = append(unreadable, name)
		default:
			differ = append(differ, name)
		}
	}
	if len(lack) > 0 || len(mayLack) == 0 {
		j.checkNames(v1alpha1.SidecarSetInjected, corev1.ConditionFalse, lack, len(mayLack) == 0)
	}
	j.checkNames(v1alpha1.SidecarSetNotUpgradable, corev1.ConditionTrue, differ, len(unreadable) == 0)
	if len(unreadable) > 0 {
		j.checkCondition(v1alpha1.SidecarSetFailedUpdatePod, corev1.ConditionTrue, "")
	}
}

// lacks tells whether the SidecarSet should have been injected into a pod that lacks it: surely, or maybe.
func (j *sidecarSetJudge) lacks(pod *corev1.Pod, s *State) (surely, maybe bool) {
	unheard := false
	if namespace := s.Namespaces[pod.Namespace]; namespace != nil {
		_, unheard = namespace.Labels[noInjectionLabel]
	}
	switch {
	case !j.selects(pod, s):
		return false, false
	case j.listed(pod):
		return !j.complete(pod), false
	case j.set.Spec.InjectionStrategy.Paused, unheard:
		return false, false
	}
	return j.past.sidecars.selection.missed(j.set, pod)
}

// unreadable tells whether it is not known what the containers of a pod are like but for their images.
func (j *sidecarSetJudge) unreadable(pod *corev1.Pod) bool {
	record := pod.Annotations[v1alpha1.SidecarSetHashWithoutImageAnnotation]
	return record != "" && !json.Valid([]byte(record))
}

// checkNames: a condition stands while there are pods that it is about. It counts them and
// names the first; with exact there are no others.
func (j *sidecarSetJudge) checkNames(of v1alpha1.SidecarSetConditionType, value corev1.ConditionStatus, pods []string, exact bool) {
	if len(pods) == 0 {
		if c := conditionOf(&j.set.Status, of); c != nil && exact {
			j.add(Status, "condition %s says %q, and there is no such pod", of, c.message)
		}
		return
	}
	want := ""
	if exact {
		want = fmt.Sprintf("%d pod", len(pods))
	}
	j.checkCondition(of, value, want)
	if c := conditionOf(&j.set.Status, of); c != nil && exact && !strings.Contains(c.message, "/"+pods[0]) {
		j.add(Status, "condition %s says %q, and not that pod %s is the first of %v", of, c.message, pods[0], pods)
	}
}

// checkCondition: a condition stands with a value, and its message begins as it should.
func (j *sidecarSetJudge) checkCondition(of v1alpha1.SidecarSetConditionType, value corev1.ConditionStatus, begins string) {
	c := conditionOf(&j.set.Status, of)
	j.never(c == nil || c.status != string(value) || !strings.HasPrefix(c.message, begins), Status,
		"condition %s is %+v, want %s and a message that begins with %q", of, c, value, begins)
}

// checkUpgradable: a pod says something else than before of the SidecarSet, which is so, or what a SidecarSet has said that is gone goes. Of the
// others it says the same. (SCS-33)
func (j *sidecarSetJudge) checkUpgradable(before, after *corev1.Pod) {
	if strategy := &j.set.Spec.UpdateStrategy; strategy.Paused || strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType {
		j.add(Needless, "says of pod %s whether it can be updated, and nothing is", before.Name)
	}
	j.never(!j.matches(before, j.Known), Ownership,
		"says of pod %s whether it can be updated, which is not one of the SidecarSet", before.Name)
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
	j.never(!maps.Equal(is, was) || c == nil || c.Status != want, Status,
		"says of pod %s %v, and it said %v: %+v", before.Name, is, was, c)
	rest := after.DeepCopy()
	rest.Status.Conditions, rest.ResourceVersion, rest.ManagedFields = before.Status.Conditions, before.ResourceVersion, before.ManagedFields
	others := equality.Semantic.DeepEqual(otherConditions(before), otherConditions(after))
	j.never(!equality.Semantic.DeepEqual(before, rest) || !others, InPlace,
		"changes more of pod %s than what it says of updates", before.Name)
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
			j.never(j.gone(s, name), Settled,
				"pod %s goes on to say what SidecarSet %s has said, which is gone", pod.Name, name)
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
