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

// observe takes note of a change of the SidecarSet.
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
			if j.hasOldNative(pod) {
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
	namespace := s.Namespaces[pod.Namespace]
	switch {
	case !j.selects(pod, s):
		return false, false
	case j.listed(pod):
		return !j.complete(pod), false
	case j.set.Spec.InjectionStrategy.Paused, namespace != nil && hasLabel(namespace, noInjectionLabel):
		return false, false
	}
	return j.past.sidecars.selection.missed(j.set, pod)
}

func hasLabel(object Object, key string) bool {
	_, is := object.GetLabels()[key]
	return is
}

// unreadable tells whether it is not known what the containers of a pod are like but for their images.
func (j *sidecarSetJudge) unreadable(pod *corev1.Pod) bool {
	record := pod.Annotations[v1alpha1.SidecarSetHashWithoutImageAnnotation]
	return record != "" && !json.Valid([]byte(record))
}

// hasOldNative tells whether a native sidecar of a pod has another image than the spec has. (SCS-14)
func (j *sidecarSetJudge) hasOldNative(pod *corev1.Pod) bool {
	for i := range j.set.Spec.InitContainers {
		of := &j.set.Spec.InitContainers[i]
		if j.contract.Natives || !native(&of.Container) { // it is updated
			continue
		}
		if slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == of.Name && unmirrored(c.Image) != of.Image }) {
			return true
		}
	}
	return false
}

// checkNames: a condition stands while there are pods that it is about. It counts them and
// names the first; with exact there are no others.
func (j *sidecarSetJudge) checkNames(of v1alpha1.SidecarSetConditionType, value corev1.ConditionStatus, pods []string, exact bool) {
	if len(pods) == 0 {
		if c := j.condition(of); c != nil && exact {
			j.add(Status, "condition %s says %q, and there is no such pod", of, c.Message)
		}
		return
	}
	want := ""
	if exact {
		want = fmt.Sprintf("%d pod", len(pods))
	}
	j.checkCondition(of, value, want)
	if c := j.condition(of); c != nil && exact && !strings.Contains(c.Message, "/"+pods[0]) {
		j.add(Status, "condition %s says %q, and not that pod %s is the first of %v", of, c.Message, pods[0], pods)
	}
}

// checkCondition: a condition stands with a value, and its message begins as it should.
func (j *sidecarSetJudge) checkCondition(of v1alpha1.SidecarSetConditionType, value corev1.ConditionStatus, begins string) {
	c := j.condition(of)
	if c == nil || c.Status != value || !strings.HasPrefix(c.Message, begins) {
		j.add(Status, "condition %s is %+v, want %s and a message that begins with %q", of, c, value, begins)
	}
}

// condition is a condition of the status, nil if there is none.
func (j *sidecarSetJudge) condition(of v1alpha1.SidecarSetConditionType) *v1alpha1.SidecarSetCondition {
	for i := range j.set.Status.Conditions {
		if c := &j.set.Status.Conditions[i]; c.Type == of {
			return c
		}
	}
	return nil
}
