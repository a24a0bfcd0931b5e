// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DaemonSetSettled judges a DaemonSet that has settled: hooks have released their pods,
// kubelets work, and what policies refuse is in the state. Nothing that can go on
// stands still. With pushed, users have pushed a template whose pods run, and
// nothing is refused: then all is as the spec wants it.
func (p *Past) DaemonSetSettled(s *State, pushed bool) []Violation {
	var v violations
	set, ok := s.Workload.(*v1alpha1.DaemonSet)
	if !ok || set.DeletionTimestamp != nil {
		return nil
	}
	j := newDaemonSetJudge(&v, &Write{Known: s, Truth: s, Observed: s}, set, p)
	status := &set.Status
	if j.broken || s.refuses("create", "controllerrevisions") && j.update == "" {
		told := j.told(set)
		if j.broken {
			told.checkUnreadable(&v)
		} else if !told.problems {
			v.add(Status, "the spec cannot be read, and no condition says so")
		}
		return v
	}
	if j.update == "" {
		v.add(Settled, "there is no revision of the template")
		return v
	}
	if status.ObservedGeneration != set.Generation {
		v.add(Status, "observedGeneration is %d, the generation %d", status.ObservedGeneration, set.Generation)
	}
	j.checkFacts(status, s)
	j.told(set).checkReached(&v, j.reached(s))
	if j.complete(s) && shortHash(status.CurrentRevision) != j.update {
		v.add(Status, "currentRevision is %s, and no node has a pod of another revision than %s", status.CurrentRevision, j.update)
	}
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
	told := slices.ContainsFunc(j.set.Status.Conditions, func(c v1alpha1.DaemonSetCondition) bool { return c.Type == heldUp })
	for _, n := range running(j.nodes) {
		if dead(s.Nodes[n.Name]) && !j.serving(n) && j.partition == 0 && !told {
			j.add(Status, "node %s is dead, and no condition HeldUp says so", n.Name)
		}
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
	progressive := j.rolling != nil && j.partition > 0 && j.set.Annotations[v1alpha1.DaemonSetProgressiveCreateAnnotation] == "true"
	for _, n := range running(j.nodes) {
		switch {
		case len(n.live) == 0 && !stays && !s.refuses("create", "pods") && !progressive && matches(j.set.Spec.Selector, j.set.Spec.Template.Labels):
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
		switch {
		case n.old == nil:
			updated++
			if !j.serving(n) {
				without++
				surging++
			}
		case n.fresh != nil:
			surging++
			updated++
		default:
			waits = append(waits, n.old.Name)
			if !j.serving(n) {
				without++
			}
		}
	}
	held := j.maxSurge == 0 && without >= j.maxUnavailable || j.maxSurge > 0 && surging >= j.maxSurge
	if wanted := min(j.limit(), at); updated < wanted && !held {
		j.add(Settled, "pods %v are not updated: %d nodes are, of %d that the update gets to; %d are without an available one, maxUnavailable %d; %d surge, maxSurge %d",
			waits, updated, wanted, without, j.maxUnavailable, surging, j.maxSurge)
	}
	for _, n := range running(j.nodes) {
		if j.partition == 0 && j.selected(n) && n.old != nil && n.fresh == nil && j.maxSurge == 0 && !j.past.daemons.ready[n.old.UID] && !unreadable(n.old) {
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
		if n.ahead || j.selected(n) {
			at++
		}
		if n.old == nil && n.fresh != nil {
			updated++
		}
		for _, pod := range n.live {
			if !j.available(pod) && !excused(pod) {
				j.add(Settled, "pod %s on node %s is not available", pod.Name, n.Name)
			}
		}
	}
	if wanted := min(j.limit(), at); j.rolling != nil && updated < wanted {
		j.add(Settled, "%d nodes have an updated pod alone, of %d that the update gets to", updated, wanted)
	}
	excusedBy := slices.ContainsFunc(slices.Collect(maps.Values(j.Known.Pods)), func(pod *corev1.Pod) bool { return j.owned(pod) && unreadable(pod) })
	brokenStay := slices.ContainsFunc(slices.Collect(maps.Values(j.Known.Pods)), func(pod *corev1.Pod) bool { return j.owned(pod) && !j.available(pod) && excused(pod) })
	if _, template := j.current(); template != nil && !matches(j.set.Spec.Selector, template.Labels) { // it makes no pods
		excusedBy = true
	}
	for _, condition := range j.set.Status.Conditions {
		switch condition.Type { // these are judged with the pods
		case v1alpha1.DaemonSetConditionReconciling, v1alpha1.DaemonSetConditionStalled:
			continue
		case heldUp: // it tells of pods that partition or selector hold back, too
			if brokenStay {
				continue
			}
		}
		if !excusedBy {
			j.add(Status, "condition %s: %s", condition.Type, condition.Message)
		}
	}
}
