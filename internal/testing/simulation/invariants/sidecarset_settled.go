// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// checkStatus judges a write of the SidecarSet: the status says what the author observed. (SCS-21)
func (j *sidecarSetJudge) checkStatus() {
	before, after := objects[*v1alpha1.SidecarSet](j.Write)
	if before == nil || after == nil || j.Subresource != "status" || before.Generation != after.Generation {
		j.add(Spec, "%s of SidecarSet %s/%s", j.Verb, j.name(), j.Subresource)
		return
	}
	j.past.sidecars.selection.tell(j)
	if sameFacts(after.Status, j.set.Status) { // nothing is counted if the spec cannot be read, or its revision is missing
		return
	}
	if !j.broken {
		j.checkCounts(&after.Status, j.Observed)
	}
	j.never(after.Status.ObservedGeneration != j.set.Generation && j.set.UID == after.UID, Status,
		"observedGeneration becomes %d, and the author knew %d", after.Status.ObservedGeneration, j.set.Generation)
}

// checkCounts: the counters are those of a state. (SCS-21)
func (j *sidecarSetJudge) checkCounts(status *v1alpha1.SidecarSetStatus, s *State) {
	var want v1alpha1.SidecarSetStatus
	for _, pod := range j.matching(s) {
		want.MatchedPods++
		count(&want.UpdatedPods, j.isUpdated(pod))
		count(&want.ReadyPods, j.available(pod))
		count(&want.UpdatedReadyPods, j.isUpdated(pod) && j.available(pod))
	}
	j.compare(status, &want)
}

// SidecarSetSettled judges a SidecarSet that has settled: kubelets work, and what policies refuse is in the state.
// Nothing that can go on stands still. With pushed, users have pushed images that run, nothing is refused, and the
// update holds nothing back. Then all pods that can be updated are, and serve.
func (p *Past) SidecarSetSettled(s *State, pushed bool) []Violation {
	var v violations
	set, ok := s.Workload.(*v1alpha1.SidecarSet)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	j := p.newSidecarSetJudge(&v, &Write{Known: s, Truth: s, Observed: s}, set)
	if j.broken || j.confused {
		j.checkCondition(v1alpha1.SidecarSetFailedUpdatePod, corev1.ConditionTrue, "")
	}
	if j.broken {
		return v
	}
	latest := j.latest(s)
	switch { // without a revision nothing is counted
	case latest == nil && s.refuses("create", "controllerrevisions"):
		return v
	case latest == nil:
		v.add(Settled, "there is no revision of the spec")
		return v
	case !j.isLatest(s, set.Status.LatestRevision):
		v.add(Status, "latestRevision is %q, want %s", set.Status.LatestRevision, latest.Name)
	}
	v.compareGeneration(set.Status.ObservedGeneration, set.Generation)
	j.checkCounts(&set.Status, s)
	j.checkHistory(s)
	j.checkReported(s)
	if s.refuses("patch", "pods") {
		return v
	}
	j.checkEmptied(s)
	j.checkSaysDead(s)
	j.checkUpdated(s)
	j.checkSaid(s)
	if pushed {
		j.checkConverged(s)
	}
	return v
}

// checkHistory: no more revisions are left than the limit and those that are needed. (SCS-R5)
func (j *sidecarSetJudge) checkHistory(s *State) {
	needed, n, unneeded := j.neededRevisions(s, true), 0, 0
	for name, r := range s.Revisions {
		if !controls(j.set.UID, r) {
			continue
		}
		n++
		count(&unneeded, needed[name] == "")
	}
	j.never(n > j.historyLimit() && unneeded > 0, History,
		"%d revisions are left, of which nothing needs %d, revisionHistoryLimit %d", n, unneeded, j.historyLimit())
}

// checkEmptied: hot containers that do not work are emptied once all others serve, unless that is held
// back. (SCS-18)
func (j *sidecarSetJudge) checkEmptied(s *State) {
	strategy := &j.set.Spec.UpdateStrategy
	if strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType || strategy.Paused || j.confused {
		return
	}
	out := among(slices.Values(j.matching(s)), func(pod *corev1.Pod) bool { return !j.available(pod) && !(inService(pod) && j.consistent(pod)) })
	for _, pod := range j.matching(s) {
		if j.flipping(pod) && (!inService(pod) || len(out) < j.maxUnavailable) {
			j.checkServed(pod)
		}
	}
}

// checkServed: a container that does not work goes on as long as another one does not serve.
func (j *sidecarSetJudge) checkServed(pod *corev1.Pod) {
	idles := j.idles(pod)
	waits := slices.ContainsFunc(j.containersOf(pod), func(name string) bool { return !idles[name] && !j.serving(pod, name) })
	j.never(!waits, Settled, "hot containers of pod %s that do not work are not emptied", pod.Name)
}

// checkSaysDead: pods on dead nodes that an update took out of service, and so hold the places of others, are named. (SCS-27)
func (j *sidecarSetJudge) checkSaysDead(s *State) {
	waits := among(slices.Values(j.matching(s)), func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp == nil && !j.available(pod) && j.hasState(pod) && j.isUpdated(pod)
	})
	checkDead(j.violations, s, waits, &j.set.Status, (*corev1.Pod).GetName)
}

// candidate tells whether a pod waits for its update, and only partition and maxUnavailable may hold it back. (SCS-6)
func (j *sidecarSetJudge) candidate(pod *corev1.Pod) bool {
	return !j.isUpdated(pod) && j.upgradable(pod) && j.chosen.Matches(labels.Set(pod.Labels))
}

// checkUpdated: no pod waits for an update that nothing holds back. (SCS-6 to SCS-8)
func (j *sidecarSetJudge) checkUpdated(s *State) {
	strategy := &j.set.Spec.UpdateStrategy
	if strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType || strategy.Paused || j.confused || len(j.all) == 0 {
		return
	}
	var waits, broken []string
	out := 0
	for _, pod := range j.matching(s) {
		count(&out, !j.available(pod) && (j.isUpdated(pod) || j.hasState(pod) || j.past.sidecars.spoilt[pod.UID]))
		if !j.candidate(pod) {
			continue
		}
		if waits = append(waits, pod.Name); !inService(pod) {
			broken = append(broken, pod.Name)
		}
	}
	if len(waits) > j.partition && (len(broken) > 0 || out < j.maxUnavailable) {
		j.add(Settled, "pods %v are not updated, of which %v do not serve; partition %d, updates keep %d out of service, maxUnavailable %d",
			waits, broken, j.partition, out, j.maxUnavailable)
	}
}

// checkConverged: every pod that can be updated is, and serves. A pod whose own containers do not run serves only when its users help
// it. Only their owners can help pods that no update reaches, and pods that are broken. Such pods may take all places, and there are
// no places if maxUnavailable is 0. Then the pods that serve wait. The selector of the update may leave pods out by now. (SCS-8,
// SCS-18)
func (j *sidecarSetJudge) checkConverged(s *State) {
	stuck := 0
	for _, pod := range j.matching(s) {
		reached := j.upgradable(pod) && (j.isUpdated(pod) || j.chosen.Matches(labels.Set(pod.Labels)))
		count(&stuck, (!reached && j.hasState(pod) || j.brokenBeside(pod)) && !j.available(pod))
	}
	for _, pod := range j.matching(s) {
		switch {
		case inService(pod) && stuck >= j.maxUnavailable:
		case j.candidate(pod):
			j.add(Settled, "pod %s is not updated", pod.Name)
		case j.isUpdated(pod) && !j.available(pod) && !j.brokenBeside(pod) && !j.lost(pod):
			j.add(Settled, "pod %s is updated, and not available", pod.Name)
		}
	}
}

// lost tells whether a workload has lost a pod that it keeps out of service.
func (j *sidecarSetJudge) lost(pod *corev1.Pod) bool {
	c := condition(pod, inplacev1alpha1.InPlaceUpdateReady)
	return j.contract.Owned && hasGate(pod, inplacev1alpha1.InPlaceUpdateReady) && metav1.GetControllerOfNoCopy(pod) == nil && (c == nil || c.Status != corev1.ConditionTrue)
}

// brokenBeside tells whether a container of a pod that is not the SidecarSet's does not serve.
func (j *sidecarSetJudge) brokenBeside(pod *corev1.Pod) bool {
	own := j.inPod(pod)
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool {
		return !slices.Contains(own, c.Name) && !statusOf(pod, c.Name).Ready
	})
}
