// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// sidecars is what has happened to the pods of a SidecarSet.
type sidecars struct {
	set       *v1alpha1.SidecarSet
	idle      map[types.UID]time.Time // since when pods have not been ready that were not when they got other images last
	taken     map[types.UID]taking    // pods that served when they got other images, and have not served since
	spoilt    map[types.UID]bool      // pods whose record of updates a user has made unreadable
	empties   map[string]bool         // the images that hot containers ever had for the one that does not work
	selection selection
}

// taking is an update that took a pod out of service: who wrote it, and as which version.
type taking struct {
	by      string
	version int64
}

func newSidecars() sidecars {
	return sidecars{idle: map[types.UID]time.Time{}, taken: map[types.UID]taking{}, spoilt: map[types.UID]bool{}, empties: map[string]bool{}}
}

// observeSidecars takes note of a change.
func (p *Past) observeSidecars(c *Change) {
	s := &p.sidecars
	if set, ok := c.After.(*v1alpha1.SidecarSet); ok && (s.set == nil || s.set.Name == set.Name) {
		s.set = set
		s.selection.observe(set, c.At)
		for i := range set.Spec.Containers {
			if container := &set.Spec.Containers[i]; hot(container) {
				s.empties[container.UpgradeStrategy.HotUpgradeEmptyImage] = true
			}
		}
	}
	pod, ok := c.After.(*corev1.Pod)
	if !ok || s.set == nil || c.By != "" {
		return
	}
	if state := pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]; state != "" && !json.Valid([]byte(state)) {
		s.spoilt[pod.UID] = true
	}
	if _, is := s.taken[pod.UID]; !is {
		return
	}
	nothing := &State{Now: c.At}
	if j := p.newSidecarSetJudge(&violations{}, &Write{Known: nothing, Observed: nothing}, s.set); j.available(pod) {
		delete(s.taken, pod.UID)
	}
}

// outOfService tells whether a pod is not available because of an update, as far as the
// author of the write knew. One that did not serve when its reconcile updated it costs
// nothing, nor does one whose sidecars serve while its workload updates it. (SCS-8)
func (j *sidecarSetJudge) outOfService(pod *corev1.Pod) bool {
	if j.available(pod) || j.lacksOthers(pod) {
		return false
	}
	if observed := j.Observed.Pods[pod.Name]; observed != nil && observed.UID == pod.UID {
		if j.isUpdated(observed) {
			return true
		}
		if j.past.sidecars.spoilt[pod.UID] && !inService(observed) && !j.hasState(observed) {
			return false // it is not known that it was updated before
		}
	}
	if update, is := j.past.sidecars.taken[pod.UID]; !is || update.by != j.By && versionOf(pod) < update.version {
		return false
	}
	return j.isUpdated(pod) || !(j.workloadUpdates(pod, j.Known.Now) && j.sidecarsServe(pod))
}

// lacksOthers tells whether a pod is out of service for another reason than the SidecarSet. It was not ready when it got its images, and
// has not been since. All its containers of the SidecarSet serve. (SCS-8)
func (j *sidecarSetJudge) lacksOthers(pod *corev1.Pod) bool {
	since, is := j.past.sidecars.idle[pod.UID]
	c := condition(pod, corev1.PodReady)
	return is && c != nil && c.Status != corev1.ConditionTrue && c.LastTransitionTime.Time.Equal(since) && j.sidecarsServe(pod) && !j.flipping(pod)
}

// checkEmptying: containers are emptied as far as the strategy allows to take pods out of service: a pod
// that serves has its container stopped. (SCS-18)
func (j *sidecarSetJudge) checkEmptying(pod *corev1.Pod) {
	switch strategy := &j.set.Spec.UpdateStrategy; {
	case strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType:
		j.add(Needless, "empties a container of pod %s, the type is NotUpdate", pod.Name)
	case strategy.Paused:
		j.add(Paused, "empties a container of pod %s, the update is paused", pod.Name)
	}
	if !inService(pod) {
		return
	}
	var out []string
	for _, other := range j.matching(j.Known) {
		if other.UID != pod.UID && j.outOfService(other) && !(inService(other) && j.consistent(other)) {
			out = append(out, other.Name)
		}
	}
	if len(out) >= j.maxUnavailable {
		j.add(Availability, "empties a container of pod %s, which serves, and updates have taken %v out of service, maxUnavailable %d", pod.Name, out, j.maxUnavailable)
	}
	j.past.sidecars.taken[pod.UID] = taking{j.By, versionOf(pod) + 1}
}

// checkTaken: a pod that serves is updated only while fewer pods than maxUnavailable are out
// of service because of updates, this one or any before. (SCS-8)
func (j *sidecarSetJudge) checkTaken(pod, after *corev1.Pod) {
	if c := condition(pod, corev1.PodReady); c != nil && c.Status != corev1.ConditionTrue {
		j.past.sidecars.idle[pod.UID] = c.LastTransitionTime.Time
	} else {
		delete(j.past.sidecars.idle, pod.UID)
	}
	if !inService(pod) {
		return
	}
	var out []string
	for _, other := range j.matching(j.Known) {
		if other.UID != pod.UID && j.outOfService(other) {
			out = append(out, other.Name)
		}
	}
	if len(out) >= j.maxUnavailable {
		j.add(Availability, "updates pod %s, which serves, and updates have taken %v out of service, maxUnavailable %d", pod.Name, out, j.maxUnavailable)
	}
	if !equality.Semantic.DeepEqual(pod.Spec, after.Spec) { // otherwise nothing stops
		j.past.sidecars.taken[pod.UID] = taking{j.By, versionOf(after)}
	}
}

// versionOf is the resourceVersion of an object, 0 if it is no number.
func versionOf(object Object) int64 {
	version, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// checkLeft: so many of the pods that could be updated as the partition says stay. (SCS-7)
func (j *sidecarSetJudge) checkLeft(pod *corev1.Pod) {
	left := 0
	for _, other := range j.matching(j.Known) {
		if other.UID != pod.UID && !j.isUpdated(other) && j.upgradable(other) && j.chosen.Matches(labels.Set(other.Labels)) {
			left++
		}
	}
	if left < j.partition {
		j.add(Partition, "updates pod %s, and leaves %d pods that are not updated, partition %d", pod.Name, left, j.partition)
	}
}
