// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatus: what the status says is the case in the eyes of its author, if
// the write says anything of it. The spec is the user's.
func (j *daemonSetJudge) checkStatus() {
	before, _ := j.Before.(*v1alpha1.DaemonSet)
	after, _ := j.After.(*v1alpha1.DaemonSet)
	seen, _ := j.Observed.Workload.(*v1alpha1.DaemonSet)
	if before == nil || after == nil || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		j.add(Spec, "%s of the DaemonSet changes more than the status", j.Verb)
		return
	}
	facts := func(s v1alpha1.DaemonSetStatus) v1alpha1.DaemonSetStatus {
		s.Conditions, s.CollisionCount = nil, nil
		return s
	}
	if seen == nil || seen.UID != after.UID {
		return
	}
	told := j.told(after)
	told.check(j.violations, after.Status.ObservedGeneration)
	if equality.Semantic.DeepEqual(facts(before.Status), facts(after.Status)) {
		return
	}
	if after.Status.ObservedGeneration != seen.Generation {
		j.add(Status, "observedGeneration %d of a spec of generation %d", after.Status.ObservedGeneration, seen.Generation)
	}
	if !j.broken && j.update != "" {
		j.checkFacts(&after.Status, j.Observed)
		j.checkCurrent(&seen.Status, &after.Status)
		told.checkReached(j.violations, j.reached(j.Observed))
	}
}

// told is what the status of a DaemonSet tells consumers.
func (j *daemonSetJudge) told(set *v1alpha1.DaemonSet) consumers {
	return consumersOf(set.Status.Conditions, func(c *v1alpha1.DaemonSetCondition) (string, corev1.ConditionStatus) { return string(c.Type), c.Status })
}

// reached tells whether the pods of a state are those of the spec. Every node that should run one has an available one, and
// none has one that must not stay. The update has reached as many nodes as it may, and left no older pod on them. (DS-20)
func (j *daemonSetJudge) reached(of *State) bool {
	at, done, without := 0, 0, 0
	nodes := j.survey(of)
	for _, n := range nodes {
		shown := append(slices.Clone(n.live), n.ended...)
		if !n.stays && (len(shown) > 0 || n.leaving) {
			return false
		}
		if !n.runs {
			continue
		}
		if len(shown) == 0 || !available(shown[0], j.set.Spec.MinReadySeconds, of.Now) {
			without++
		}
		if n.ahead || j.selected(n) {
			at++
			if !slices.ContainsFunc(n.live, j.old) {
				done++
			}
		}
	}
	return without <= j.deferred(nodes) && (j.rolling == nil || done >= min(j.limit(), at))
}

// deferred is how many nodes get no pod, since the partition holds back the first ones, too. (DS-6)
func (j *daemonSetJudge) deferred(nodes map[string]*daemonNode) int {
	if j.rolling == nil || j.partition == 0 || j.set.Annotations[v1alpha1.DaemonSetProgressiveCreateAnnotation] != "true" {
		return 0
	}
	lacking, most := 0, j.limit()
	for _, n := range running(nodes) {
		switch fresh := func(pod *corev1.Pod) bool { return !j.old(pod) }; {
		case slices.ContainsFunc(n.live, fresh):
			most--
		case len(n.live)+len(n.ended) == 0 && !n.orphan && (!n.leaving || j.maxSurge > 0):
			lacking++
		}
	}
	return max(lacking-max(most, 0), 0)
}

// checkFacts compares the status with the nodes and pods of a state. (DS-17)
func (j *daemonSetJudge) checkFacts(status *v1alpha1.DaemonSetStatus, of *State) {
	var desired, current, misscheduled, isReady, isAvailable, updated int32
	count := func(n *int32, yes bool) {
		if yes {
			*n++
		}
	}
	for _, n := range j.survey(of) {
		shown := append(slices.Clone(n.live), n.ended...)
		has := len(shown) > 0 || n.leaving
		count(&desired, n.runs)
		count(&current, n.runs && has)
		count(&misscheduled, !n.runs && has)
		if !n.runs || len(shown) == 0 {
			continue
		}
		count(&isReady, !ended(shown[0]) && readyNow(shown[0]) == 1)
		count(&isAvailable, available(shown[0], j.set.Spec.MinReadySeconds, of.Now))
		count(&updated, !j.old(shown[0]))
	}
	for _, c := range []counter{
		{"desiredNumberScheduled", desired, status.DesiredNumberScheduled},
		{"currentNumberScheduled", current, status.CurrentNumberScheduled},
		{"numberMisscheduled", misscheduled, status.NumberMisscheduled},
		{"numberReady", isReady, status.NumberReady},
		{"numberAvailable", isAvailable, status.NumberAvailable},
		{"numberUnavailable", desired - isAvailable, status.NumberUnavailable},
		{"updatedNumberScheduled", updated, status.UpdatedNumberScheduled},
	} {
		c.check(j.violations)
	}
	if status.DaemonSetHash != j.update {
		j.add(Status, "daemonSetHash is %q, the template is that of %q", status.DaemonSetHash, j.update)
	}
}

// checkCurrent: the current revision moves to the update revision, and to no other. It does so when no node has an
// older pod, and all have an updated one. (DS-5)
func (j *daemonSetJudge) checkCurrent(seen, after *v1alpha1.DaemonSetStatus) {
	was, is := shortHash(seen.CurrentRevision), shortHash(after.CurrentRevision)
	known := templatesOf(j.Observed.Revisions)[was] != nil
	switch complete := j.complete(j.Observed); {
	case is == j.update && (complete || j.present[was]):
	case is == was:
	case known:
		j.add(Status, "currentRevision goes from %s to %s, the update revision is %s, the update complete: %t", was, is, j.update, complete)
		return
	case is != j.update && !j.revisionOfAny(is), is == j.update && j.olderPods():
		j.add(Status, "currentRevision becomes %s, of which no pod is, the update revision is %s", is, j.update)
		return
	}
	j.past.becomesCurrent(j.set.UID, is)
}

// complete tells whether all nodes have come to the present template.
func (j *daemonSetJudge) complete(s *State) bool {
	all := true
	for _, n := range j.survey(s) {
		if !n.runs {
			continue
		}
		if slices.ContainsFunc(n.live, j.old) {
			return false
		}
		all = all && n.fresh != nil
	}
	return all
}

// revisionOfAny tells whether a pod that the author saw is of a revision.
func (j *daemonSetJudge) revisionOfAny(hash string) bool {
	for _, pod := range j.Observed.Pods {
		if shortHash(pod.Labels[revisionLabel]) == hash {
			return true
		}
	}
	return false
}

// olderPods tells whether the author saw a pod of another revision that there is.
func (j *daemonSetJudge) olderPods() bool {
	templates := templatesOf(j.revisions(j.set.UID, j.set.Spec.Selector))
	for _, pod := range j.Observed.Pods {
		if hash := shortHash(pod.Labels[revisionLabel]); j.owned(pod) && j.old(pod) && templates[hash] != nil {
			return true
		}
	}
	return false
}

func (j *daemonSetJudge) history() *history {
	return &history{uid: j.set.UID, selector: j.set.Spec.Selector, limit: j.set.Spec.RevisionHistoryLimit, needed: j.neededRevisions, twins: j.present}
}

// neededRevisions says by short hash for what a revision is needed: also for pods that are
// still to be adopted, or released.
func (j *daemonSetJudge) neededRevisions(s *State) map[string]string {
	needed := map[string]string{shortHash(j.set.Status.CurrentRevision): "status.currentRevision"}
	for _, pod := range s.Pods {
		if controls(j.set.UID, pod) || metav1.GetControllerOfNoCopy(pod) == nil && matches(j.set.Spec.Selector, pod.Labels) {
			needed[shortHash(pod.Labels[revisionLabel])] = "pod " + pod.Name
		}
	}
	needed[j.update] = "the template"
	return needed
}
