// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// inOrder returns candidates for the update in their order; all are the pods that are matched. (SCS-9, SCS-10, SCS-29)
func (j *sidecarSetJudge) inOrder(candidates, all []*corev1.Pod) []*corev1.Pod {
	ordered := slices.Clone(candidates)
	slices.SortStableFunc(ordered, func(a, b *corev1.Pod) int {
		return cmp.Or(slices.Compare(j.priority(a), j.priority(b)), slices.Compare(servesLess(a), servesLess(b)), strings.Compare(a.Name, b.Name))
	})
	return scattered(ordered, all, j.set.Spec.UpdateStrategy.ScatterStrategy)
}

// scattered spreads pods that match a term among the others, term after term. The terms that most of them match come first. (CS-30, SCS-10)
func scattered(order, all []*corev1.Pod, terms []v1alpha1.UpdateScatterTerm) []*corev1.Pod {
	var each []v1alpha1.UpdateScatterTerm
	for _, term := range terms {
		values := map[string]bool{term.Value: true}
		if term.Value == "*" {
			values = map[string]bool{}
			for _, pod := range all {
				if value, has := pod.Labels[term.Key]; has {
					values[value] = true
				}
			}
		}
		for _, value := range slices.Sorted(maps.Keys(values)) {
			each = append(each, v1alpha1.UpdateScatterTerm{Key: term.Key, Value: value})
		}
	}
	slices.SortStableFunc(each, func(a, b v1alpha1.UpdateScatterTerm) int {
		return cmp.Compare(len(having(order, b)), len(having(order, a)))
	})
	for _, term := range each {
		order = spread(order, all, term)
	}
	return order
}

func having(pods []*corev1.Pod, term v1alpha1.UpdateScatterTerm) []*corev1.Pod {
	return among(slices.Values(pods), func(pod *corev1.Pod) bool {
		value, has := pod.Labels[term.Key]
		return has && value == term.Value
	})
}

// spread has groups of pods that match a term take turns with groups of the others, as CS-30 says.
func spread(order, all []*corev1.Pod, term v1alpha1.UpdateScatterTerm) []*corev1.Pod {
	matched := having(order, term)
	others := slices.DeleteFunc(slices.Clone(order), func(pod *corev1.Pod) bool { return slices.Contains(matched, pod) })
	if len(matched) < 2 || len(others) < 2 {
		return order
	}
	last := matched[len(matched)-1]
	matched = matched[:len(matched)-1]
	m, u := len(matched), len(others)
	a := len(having(all, term)) - 1
	b := len(all) - a - 1
	rounded := func(of, by int) int { return int(math.Round(float64(of) / float64(by))) }
	groups := min(m, u)
	sizeM, sizeU, lead := rounded(m, groups), rounded(u, groups), 0
	if b*m < u*a { // matched ones are rarer than among all
		sizeM, sizeU = rounded(a, min(a, b)), rounded(b, min(a, b))
		groups = min(m/sizeM, u/sizeU)
		lead = u - groups*sizeU
	}
	turns, others := others[:lead:lead], others[lead:]
	for range groups {
		nM, nU := min(sizeM, len(matched)), min(sizeU, len(others))
		turns = slices.Concat(turns, matched[:nM], others[:nU])
		matched, others = matched[nM:], others[nU:]
	}
	return append(slices.Concat(turns, matched, others), last)
}

// servesLess is smaller for pods that serve less. (CS-28)
func servesLess(pod *corev1.Pod) []int64 {
	var isReady, readySince, restarts int64
	if c := condition(pod, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		isReady, readySince = 1, c.LastTransitionTime.Unix()
	}
	for _, c := range pod.Status.ContainerStatuses {
		restarts = max(restarts, int64(c.RestartCount))
	}
	assigned, phase := int64(one(pod.Spec.NodeName != "")), int64(phases[pod.Status.Phase])
	return []int64{assigned, phase, isReady, -readySince, -restarts, -pod.CreationTimestamp.Unix()}
}

// priority is smaller for pods that the priorityStrategy updates first. (SCS-29)
func (j *sidecarSetJudge) priority(pod *corev1.Pod) []int64 {
	strategy := j.set.Spec.UpdateStrategy.PriorityStrategy
	if strategy == nil {
		return nil
	}
	var weight int64
	for _, term := range strategy.WeightPriority {
		selector, err := metav1.LabelSelectorAsSelector(&term.MatchSelector)
		j.confused = j.confused || err != nil
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			weight += int64(term.Weight)
		}
	}
	if len(strategy.WeightPriority) > 0 {
		return []int64{-weight}
	}
	for place, term := range strategy.OrderPriority {
		if value, has := pod.Labels[term.OrderedKey]; has {
			number, _ := strconv.ParseInt(value[len(strings.TrimRight(value, "0123456789")):], 10, 64) // 0 without digits
			return []int64{int64(place) + 1, -number}
		}
	}
	return []int64{0, 0}
}

// checkOrder: pods are updated in their order, from which the partition leaves the last,
// and maxUnavailable holds back those that serve behind others that do. If something
// keeps one of them from its turn, the order is not known. (SCS-7 to SCS-10)
func (j *sidecarSetJudge) checkOrder(pod *corev1.Pod) {
	matched := j.matching(j.Observed)
	var candidates []*corev1.Pod
	for _, other := range matched {
		if !j.candidate(other) {
			continue
		}
		if j.Known.Failed[other.Name] || j.Known.EverFailed[other.Name] || !j.inTurn(other) { // those that failed go last (SCS-15)
			return
		}
		candidates = append(candidates, other)
	}
	order := j.inOrder(candidates, matched)
	at := slices.IndexFunc(order, func(other *corev1.Pod) bool { return other.UID == pod.UID })
	if at < 0 {
		return
	}
	names, serving := namesOfPods(order[:at]), len(among(slices.Values(order[:at]), inService))
	j.never(at >= len(order)-j.partition, Order,
		"updates pod %s, of %d pods %v go before it, partition %d", pod.Name, len(order), names, j.partition)
	j.never(inService(order[at]) && serving >= j.maxUnavailable, Order,
		"updates pod %s, which serves, %v go before it and %d of them serve, maxUnavailable %d", pod.Name, names, serving, j.maxUnavailable)
}

// inTurn tells whether nothing holds back the update of a pod but the order: no update before,
// nor one of its workload. (SCS-6, SCS-19, SCS-20)
func (j *sidecarSetJudge) inTurn(pod *corev1.Pod) bool {
	if pod.Annotations[inplacev1alpha1.StateAnnotation] != "" && (!inService(pod) || inGrace(pod) || !runs(pod)) {
		return false
	}
	for c := range each(j.set.Spec.Containers) {
		for _, name := range namesOf(c) {
			if goesOn(pod, name) && !j.took(pod, name) {
				return false
			}
		}
	}
	return !j.flipping(pod)
}

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

func (p *Past) observeSidecars(c *Change) {
	s := &p.sidecars
	if set, ok := c.After.(*v1alpha1.SidecarSet); ok && (s.set == nil || s.set.Name == set.Name) {
		s.set = set
		s.selection.observe(set, c.At)
		for _, c := range among(each(set.Spec.Containers), hot) {
			s.empties[c.UpgradeStrategy.HotUpgradeEmptyImage] = true
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
	if inService(pod) {
		j.checkOut(pod, "empties a container of", func(other *corev1.Pod) bool { return inService(other) && j.consistent(other) })
		j.past.sidecars.taken[pod.UID] = taking{j.By, versionOf(pod) + 1}
	}
}

// checkOut: fewer pods than maxUnavailable are out of service because of updates beside a pod that serves, but some.
func (j *sidecarSetJudge) checkOut(pod *corev1.Pod, verb string, but func(*corev1.Pod) bool) {
	out := namesOfPods(among(slices.Values(j.matching(j.Known)), func(other *corev1.Pod) bool {
		return other.UID != pod.UID && j.outOfService(other) && !but(other)
	}))
	j.never(len(out) >= j.maxUnavailable, Availability,
		"%s pod %s, which serves, and updates have taken %v out of service, maxUnavailable %d", verb, pod.Name, out, j.maxUnavailable)
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
	j.checkOut(pod, "updates", func(*corev1.Pod) bool { return false })
	if !equality.Semantic.DeepEqual(pod.Spec, after.Spec) { // otherwise nothing stops
		j.past.sidecars.taken[pod.UID] = taking{j.By, versionOf(after)}
	}
}

func versionOf(object Object) int64 {
	version, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// checkLeft: so many of the pods that could be updated as the partition says stay. (SCS-7)
func (j *sidecarSetJudge) checkLeft(pod *corev1.Pod) {
	left := len(among(slices.Values(j.matching(j.Known)), func(other *corev1.Pod) bool { return other.UID != pod.UID && j.candidate(other) }))
	j.never(left < j.partition, Partition,
		"updates pod %s, and leaves %d pods that are not updated, partition %d", pod.Name, left, j.partition)
}
