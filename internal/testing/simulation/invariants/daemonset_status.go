// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatus: what the status says is the case in the eyes of its author, if
// the write says anything of it. The spec is the user's.
func (j *daemonSetJudge) checkStatus() {
	before, after, seen, judged := statusWrite[*v1alpha1.DaemonSet](j.violations, j.Write)
	if !judged {
		return
	}
	told := consumersOf(&after.Status)
	told.check(j.violations, after.Status.ObservedGeneration)
	if sameFacts(before.Status, after.Status) {
		return
	}
	j.compareGeneration(after.Status.ObservedGeneration, seen.Generation)
	if !j.broken && j.update != "" {
		j.checkFacts(&after.Status, j.Observed)
		j.checkCurrent(&seen.Status, &after.Status)
		told.checkReached(j.violations, j.reached(j.Observed))
	}
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
		count(&without, len(shown) == 0 || !available(shown[0], j.set.Spec.MinReadySeconds, of.Now))
		count(&at, n.ahead || j.selected(n))
		count(&done, (n.ahead || j.selected(n)) && !slices.ContainsFunc(n.live, j.old))
	}
	return without <= j.deferred(nodes) && (j.rolling == nil || done >= min(j.limit(), at))
}

// deferred is how many nodes get no pod, since the partition holds back the first ones, too. (DS-6)
func (j *daemonSetJudge) deferred(nodes map[string]*daemonNode) int {
	if !j.progressive() {
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
	var want v1alpha1.DaemonSetStatus
	for _, n := range j.survey(of) {
		shown := append(slices.Clone(n.live), n.ended...)
		has := len(shown) > 0 || n.leaving
		count(&want.DesiredNumberScheduled, n.runs)
		count(&want.CurrentNumberScheduled, n.runs && has)
		count(&want.NumberMisscheduled, !n.runs && has)
		if !n.runs || len(shown) == 0 {
			continue
		}
		count(&want.NumberReady, !ended(shown[0]) && inService(shown[0]))
		count(&want.NumberAvailable, available(shown[0], j.set.Spec.MinReadySeconds, of.Now))
		count(&want.UpdatedNumberScheduled, !j.old(shown[0]))
	}
	want.NumberUnavailable = want.DesiredNumberScheduled - want.NumberAvailable
	j.compare(status, &want)
	j.never(status.DaemonSetHash != j.update, Status,
		"daemonSetHash is %q, the template is that of %q", status.DaemonSetHash, j.update)
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

func (j *daemonSetJudge) revisionOfAny(hash string) bool {
	return anyOf(maps.Values(j.Observed.Pods), func(pod *corev1.Pod) bool { return shortHash(pod.Labels[revisionLabel]) == hash })
}

// olderPods tells whether the author saw a pod of another revision that there is.
func (j *daemonSetJudge) olderPods() bool {
	templates := templatesOf(j.revisions(j.set.UID, j.set.Spec.Selector))
	return anyOf(maps.Values(j.Observed.Pods), func(pod *corev1.Pod) bool {
		return j.owned(pod) && j.old(pod) && templates[shortHash(pod.Labels[revisionLabel])] != nil
	})
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

// DaemonSetSettled judges a DaemonSet that has settled: hooks have released their pods, kubelets work, and what
// policies refuse is in the state. Nothing that can go on stands still. With pushed, users have pushed a template whose
// pods run, and nothing is refused: then all is as the spec wants it.
func (p *Past) DaemonSetSettled(s *State, pushed bool) []Violation {
	var v violations
	set, ok := s.Workload.(*v1alpha1.DaemonSet)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	j := newDaemonSetJudge(&v, &Write{Known: s, Truth: s, Observed: s}, set, p)
	status := &set.Status
	if j.broken || s.refuses("create", "controllerrevisions") && j.update == "" {
		told := consumersOf(status)
		if j.broken {
			told.checkUnreadable(&v)
		} else if !told.problems {
			v.add(Status, "the spec cannot be read, and no condition says so")
		}
		return v
	}
	if v.wrong(j.update == "", Settled, "there is no revision of the template") {
		return v
	}
	v.compareGeneration(status.ObservedGeneration, set.Generation)
	j.checkFacts(status, s)
	consumersOf(status).checkReached(&v, j.reached(s))
	v.never(j.complete(s) && shortHash(status.CurrentRevision) != j.update, Status,
		"currentRevision is %s, and no node has a pod of another revision than %s", status.CurrentRevision, j.update)
	j.history().checkLeft(&v, s)
	j.checkSaysDead(s)
	j.checkPlaced(s)
	j.checkUpdated(s)
	if pushed {
		j.checkConverged()
	}
	return v
}

// checkSaysDead: if the pod of a dead node that no partition holds back is not available, HeldUp tells what holds the DaemonSet up. (DS-23)
func (j *daemonSetJudge) checkSaysDead(s *State) {
	told := conditionOf(&j.set.Status, heldUp)
	for _, n := range running(j.nodes) {
		j.never(dead(s.Nodes[n.Name]) && !j.serving(n) && j.partition == 0 && told == nil, Status,
			"node %s is dead, and no condition HeldUp says so", n.Name)
	}
}

// checkPlaced: unless something is refused, every node that should run a pod has one, and no other node has any. A node
// has two only if an update surges. (DS-3 to DS-5, DS-14)
func (j *daemonSetJudge) checkPlaced(s *State) {
	stays := s.refuses("delete", "pods") || s.refuses("patch", "pods")
	for _, pod := range s.Pods {
		n := j.nodes[nodeOf(pod)]
		switch {
		case !j.owned(pod) || stays:
		case n == nil && (pod.Spec.NodeName != "" || nodeOf(pod) == ""):
		case n == nil, !n.stays:
			j.add(Placement, "pod %s is left on node %q, on which it must not stay", pod.Name, nodeOf(pod))
		case (ended(pod) || preparingDelete(pod)) && pod.DeletionTimestamp != nil && onDeadNode(s, pod): // its kubelet does not let it go
		case ended(pod):
			j.add(Settled, "pod %s has ended, and is not replaced", pod.Name)
		case preparingDelete(pod):
			j.add(Settled, "pod %s prepares to leave for good", pod.Name)
		}
	}
	for _, n := range running(j.nodes) {
		switch {
		case len(n.live) == 0 && !stays && !s.refuses("create", "pods") && !j.progressive() && matches(j.set.Spec.Selector, j.set.Spec.Template.Labels):
			j.add(Placement, "node %s has no pod", n.Name)
		case stays:
		case n.crowded, len(n.live) > 1 && j.maxSurge == 0, n.old != nil && n.fresh != nil && (j.available(n.fresh) || !ready(n.old) && ready(n.fresh)):
			j.add(Placement, "node %s has %d pods", n.Name, len(n.live))
		}
	}
}

// checkUpdated: no pod waits for an update that nothing holds back. Nothing does if, of the nodes that the update
// reaches, fewer than allowed are without an available pod. A pod that was never ready waits for no other. (DS-9,
// DS-11, DS-14)
func (j *daemonSetJudge) checkUpdated(s *State) {
	if j.rolling == nil || j.rolling.Paused != nil && *j.rolling.Paused || len(s.Refused) > 0 || !matches(j.set.Spec.Selector, j.set.Spec.Template.Labels) {
		return
	}
	at, updated, without, surging := 0, 0, 0, 0
	var waits []string
	for _, n := range running(j.nodes) {
		if !n.ahead && !j.selected(n) {
			continue
		}
		at++
		goesOn := n.old != nil && n.fresh != nil
		count(&updated, n.old == nil || goesOn)
		count(&without, !goesOn && !j.serving(n))
		count(&surging, goesOn || n.old == nil && !j.serving(n))
		if n.old != nil && !goesOn {
			waits = append(waits, n.old.Name)
		}
	}
	held := j.maxSurge == 0 && without >= j.maxUnavailable || j.maxSurge > 0 && surging >= j.maxSurge
	if wanted := min(j.limit(), at); updated < wanted && !held {
		j.add(Settled, "pods %v are not updated: %d nodes are, of %d that the update gets to; %d are without an available one, maxUnavailable %d; %d surge, maxSurge %d",
			waits, updated, wanted, without, j.maxUnavailable, surging, j.maxSurge)
	}
	for _, n := range running(j.nodes) {
		waits := j.partition == 0 && j.selected(n) && n.old != nil && n.fresh == nil && j.maxSurge == 0
		if waits && !j.past.daemons.ready[n.old.UID] && !unreadable(n.old) {
			j.add(Settled, "pod %s waits for its update, though it was never ready", n.old.Name)
		}
	}
}

// checkConverged: every pod is available, unless partition or selector hold it back and its image is bad. The update
// has reached all nodes that it may reach.
func (j *daemonSetJudge) checkConverged() {
	excused := func(pod *corev1.Pod) bool { return j.old(pod) && (badImage(pod) || unreadable(pod)) }
	at, updated := 0, 0
	for _, n := range running(j.nodes) {
		count(&at, n.ahead || j.selected(n))
		count(&updated, n.old == nil && n.fresh != nil)
		for _, pod := range n.live {
			j.never(!j.available(pod) && !excused(pod), Settled, "pod %s on node %s is not available", pod.Name, n.Name)
		}
	}
	wanted := min(j.limit(), at)
	j.never(j.rolling != nil && updated < wanted, Settled,
		"%d nodes have an updated pod alone, of %d that the update gets to", updated, wanted)
	excusedBy, brokenStay := false, false
	for _, pod := range j.Known.Pods {
		excusedBy = excusedBy || j.owned(pod) && unreadable(pod)
		brokenStay = brokenStay || j.owned(pod) && !j.available(pod) && excused(pod)
	}
	if _, template := j.current(); template != nil && !matches(j.set.Spec.Selector, template.Labels) { // it makes no pods
		excusedBy = true
	}
	checkNoProblem(j.violations, &j.set.Status, func(c told) bool {
		return excusedBy || c.of == heldUp && brokenStay // it tells of pods that partition or selector hold back, too
	})
}
