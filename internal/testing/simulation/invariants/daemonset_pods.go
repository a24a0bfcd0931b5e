// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkPod judges a write of a pod.
func (j *daemonSetJudge) checkPod() {
	before, after := j.pods()
	known := j.knownPod()
	switch {
	case j.broken:
		if before == nil || j.Verb == "delete" || updated(before, after) {
			j.add(Spec, "%s of pod %s, though the spec cannot be read", j.Verb, j.name())
		}
	case before == nil:
		j.checkCreation(after)
	case known == nil: // the ownership is judged
	case j.Verb == "delete":
		j.checkDeletion(known)
	case after != nil && preparingDelete(after) && !preparingDelete(before):
		j.checkDeletion(known)
	case updated(before, after):
		j.checkNewRevision(known, after)
	}
}

// checkCreation: a pod comes to a node that should run one and has none. (DS-3, DS-4, DS-14)
func (j *daemonSetJudge) checkCreation(pod *corev1.Pod) {
	n := j.nodes[nodeOf(pod)]
	switch {
	case n == nil:
		j.add(Placement, "creates pod %s for node %q, which is not there", pod.Name, nodeOf(pod))
		return
	case !n.runs:
		j.add(Placement, "creates pod %s on node %s, which should not run it", pod.Name, n.Name)
		return
	}
	if !metav1.IsControlledBy(pod, j.set) || !matches(j.set.Spec.Selector, pod.Labels) {
		j.add(Ownership, "creates pod %s, which is not the DaemonSet's", pod.Name)
	}
	switch {
	case n.endsUpdated(j), n.old == nil && len(n.ended) > 0, n.orphan, j.maxSurge == 0 && (len(n.live) > 0 || n.leaving), n.fresh != nil:
		j.add(Placement, "creates pod %s on node %s, which has another one", pod.Name, n.Name)
	case n.old != nil:
		j.checkSurge(n, pod)
	case len(n.live) > 0:
		j.add(Placement, "creates pod %s on node %s, on which another one prepares to leave", pod.Name, n.Name)
	default:
		j.checkRevisionOf(n, pod)
	}
}

// checkSurge: a second pod comes to as many nodes as maxSurge says. Nodes whose only pod is an updated one that is not
// available are among them. A second pod always may come beside one that never was ready. (DS-8, DS-14)
func (j *daemonSetJudge) checkSurge(n *daemonNode, pod *corev1.Pod) {
	j.checkUpdates(n.old, "surges beside")
	if j.old(pod) {
		j.add(Placement, "creates pod %s of revision %s beside pod %s", pod.Name, pod.Labels[revisionLabel], n.old.Name)
	}
	surging := []string{n.Name}
	for _, other := range running(j.nodes) {
		if other != n && other.fresh != nil && !j.available(other.fresh) && (other.old == nil || !j.unserved(other.old)) {
			surging = append(surging, other.Name)
		}
	}
	if len(surging) > j.maxSurge && !j.unserved(n.old) {
		j.add(Surge, "creates pod %s beside pod %s, nodes %v surge then, maxSurge %d", pod.Name, n.old.Name, surging, j.maxSurge)
	}
}

// unserved tells whether a pod may never have been ready.
func (j *daemonSetJudge) unserved(pod *corev1.Pod) bool {
	return !ready(pod) && !j.hasServed(pod)
}

// endsUpdated tells whether an updated pod of a node has ended, and is there still.
func (n *daemonNode) endsUpdated(j *daemonSetJudge) bool {
	return slices.ContainsFunc(n.ended, func(pod *corev1.Pod) bool { return !j.old(pod) })
}

// checkRevisionOf: a pod that comes to a node is an updated one if the update reaches the node. Otherwise it is of the
// current revision, if that fits the node. (DS-5, DS-6)
func (j *daemonSetJudge) checkRevisionOf(n *daemonNode, pod *corev1.Pod) {
	is := shortHash(pod.Labels[revisionLabel])
	current, template := j.current()
	holds := template != nil && current != j.update && !j.present[current] && matches(j.set.Spec.Selector, template.Labels)
	if holds {
		holds, _ = fits(template, n.Node)
	}
	switch {
	case j.update != "" && j.rolling != nil && j.partition > 0 && j.set.Annotations[v1alpha1.DaemonSetProgressiveCreateAnnotation] == "true":
		j.checkProgress(pod)
	case is == j.update:
		if why := j.outOfTurn(n.Name); j.rolling != nil && holds && why != "" {
			j.add(Partition, "creates updated pod %s on node %s, %s; the current revision is %s", pod.Name, n.Name, why, current)
		}
	case j.update != "" && (j.rolling == nil || j.selected(n) && j.partition == 0): // while no revision holds the template, the current one is right (CT-9)
		j.add(Partition, "creates pod %s on node %s at revision %s, to which the update to %s gets", pod.Name, n.Name, is, j.update)
	case current != "" && template != nil && (is != current || !holds):
		j.add(Partition, "creates pod %s on node %s at revision %s, the current one is %s", pod.Name, n.Name, is, current)
	case current != "" && template != nil && !j.past.wasCurrent(j.set.UID, is):
		j.add(Partition, "creates pod %s on node %s at revision %s, to which no update was ever completed", pod.Name, n.Name, is)
	}
}

// checkProgress: if pods are created by and by, no more nodes have an updated one than
// the partition lets. (DS-6)
func (j *daemonSetJudge) checkProgress(pod *corev1.Pod) {
	have := 1
	for _, n := range running(j.nodes) {
		if slices.ContainsFunc(n.live, func(pod *corev1.Pod) bool { return !j.old(pod) }) {
			have++
		}
	}
	if have > j.limit() || j.old(pod) {
		j.add(Partition, "creates pod %s of revision %s, of %d nodes %d have an updated one then, partition %d", pod.Name, pod.Labels[revisionLabel], j.desired, have, j.partition)
	}
}

// checkDeletion: a pod is deleted if it must not stay, has ended, or is one too many on its node. It is also deleted if
// its hook has released it, or if it is in the way of the update. (DS-3 to DS-5, DS-14, DS-16)
func (j *daemonSetJudge) checkDeletion(pod *corev1.Pod) {
	n := j.nodes[nodeOf(pod)]
	switch {
	case !j.owned(pod) && metav1.IsControlledBy(pod, j.set) && newborn(pod, j.Known.Now): // something changes the labels of new pods
	case !j.owned(pod):
		j.add(Ownership, "deletes pod %s, which its selector does not match", pod.Name)
	case pod.DeletionTimestamp != nil:
		j.add(Needless, "deletes pod %s, which is being deleted", pod.Name)
	case n == nil && (nodeOf(pod) == "" || pod.Spec.NodeName != ""):
		j.add(Needless, "deletes pod %s, whose node is gone", pod.Name)
	case n == nil, !n.stays, ended(pod), preparingDelete(pod):
	case j.surplus(n, pod):
	case j.maxSurge > 0 && n.fresh != nil && j.old(pod): // the surge is complete
		switch {
		case ready(pod) && !j.available(n.fresh):
			j.add(Availability, "deletes pod %s on node %s before the updated one is available", pod.Name, n.Name)
		case !j.past.daemons.ready[n.fresh.UID] && !j.unserved(pod):
			j.add(Availability, "deletes pod %s on node %s, which served, and pod %s beside it was never ready", pod.Name, n.Name, n.fresh.Name)
		}
	case j.maxSurge > 0:
		j.add(Availability, "deletes pod %s on node %s, beside which no updated one is, maxSurge %d", pod.Name, n.Name, j.maxSurge)
	default:
		j.checkUpdates(pod, "deletes")
		j.checkTaken(n, pod)
	}
}

// surplus tells whether a pod is one too many on its node. What is available
// stays. (DS-4)
func (j *daemonSetJudge) surplus(n *daemonNode, pod *corev1.Pod) bool {
	others := slices.DeleteFunc(slices.Clone(n.live), func(other *corev1.Pod) bool {
		return other.UID == pod.UID || preparingDelete(other) || j.maxSurge > 0 && j.old(other) != j.old(pod)
	})
	if len(others) == 0 {
		return false
	}
	replaced := j.maxSurge > 0 && j.old(pod) && n.fresh != nil && j.available(n.fresh) // by an updated one
	if j.available(pod) && !slices.ContainsFunc(others, j.available) && !replaced {
		j.add(Availability, "deletes pod %s, the only one of node %s that is available", pod.Name, n.Name)
	}
	return true
}

// checkNewRevision judges a pod that goes to another revision in place. (DS-CR5, DS-13)
func (j *daemonSetJudge) checkNewRevision(known, after *corev1.Pod) {
	if is := shortHash(after.Labels[revisionLabel]); is != j.update {
		j.add(InPlace, "updates pod %s to revision %s, the template is that of %s", known.Name, is, j.update)
	}
	if !j.old(known) {
		return // it has the present template by another name
	}
	if !j.inPlace() {
		j.add(Needless, "updates pod %s in place, which the strategy does not say", known.Name)
	}
	j.checkUpdates(known, "updates")
	if n := j.nodes[nodeOf(known)]; n != nil {
		j.checkTaken(n, known)
	}
}

// checkUpdates: a pod is updated if the update is not paused and reaches its node. (DS-8 to DS-10)
func (j *daemonSetJudge) checkUpdates(pod *corev1.Pod, verb string) {
	n := j.nodes[nodeOf(pod)]
	switch {
	case j.rolling == nil:
		j.add(Needless, "%s pod %s, updateStrategy.type OnDelete", verb, pod.Name)
		return
	case j.rolling.Paused != nil && *j.rolling.Paused:
		j.add(Paused, "%s pod %s, rollingUpdate.paused", verb, pod.Name)
	case !j.old(pod):
		j.add(Needless, "%s pod %s, which is at the update revision", verb, pod.Name)
	case !matches(j.set.Spec.Selector, j.set.Spec.Template.Labels):
		j.add(Ownership, "%s pod %s for a template that the selector does not match", verb, pod.Name)
	case n == nil || !n.runs:
		j.add(Placement, "%s pod %s, which could not be created again on its node", verb, pod.Name)
	default:
		if why := j.outOfTurn(n.Name); why != "" {
			j.add(Partition, "%s pod %s on node %s, %s; partition %d of %d nodes", verb, pod.Name, n.Name, why, j.partition, j.desired)
		}
	}
}
