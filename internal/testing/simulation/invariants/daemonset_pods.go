// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

func (j *daemonSetJudge) checkPod() {
	before, after := j.pods()
	known := j.knownPod()
	switch {
	case j.broken:
		j.never(before == nil || j.Verb == "delete" || updated(before, after), Spec,
			"%s of pod %s, though the spec cannot be read", j.Verb, j.name())
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
	j.never(!metav1.IsControlledBy(pod, j.set) || !matches(j.set.Spec.Selector, pod.Labels), Ownership,
		"creates pod %s, which is not the DaemonSet's", pod.Name)
	endsUpdated := slices.ContainsFunc(n.ended, func(pod *corev1.Pod) bool { return !j.old(pod) }) // and is there still
	switch {
	case endsUpdated, n.old == nil && len(n.ended) > 0, n.orphan, j.maxSurge == 0 && (len(n.live) > 0 || n.leaving), n.fresh != nil:
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
	j.never(j.old(pod), Placement, "creates pod %s of revision %s beside pod %s", pod.Name, pod.Labels[revisionLabel], n.old.Name)
	surging := []string{n.Name}
	for _, other := range running(j.nodes) {
		if other != n && other.fresh != nil && !j.available(other.fresh) && (other.old == nil || !j.unserved(other.old)) {
			surging = append(surging, other.Name)
		}
	}
	j.never(len(surging) > j.maxSurge && !j.unserved(n.old), Surge,
		"creates pod %s beside pod %s, nodes %v surge then, maxSurge %d", pod.Name, n.old.Name, surging, j.maxSurge)
}

func (j *daemonSetJudge) unserved(pod *corev1.Pod) bool {
	return !ready(pod) && !j.hasServed(pod)
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
	case j.update != "" && j.progressive():
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

// checkProgress: if pods are created by and by, no more nodes have an updated one than the partition lets. (DS-6)
func (j *daemonSetJudge) checkProgress(pod *corev1.Pod) {
	updated := func(pod *corev1.Pod) bool { return !j.old(pod) }
	have := 1 + len(among(slices.Values(running(j.nodes)), func(n *daemonNode) bool { return slices.ContainsFunc(n.live, updated) }))
	j.never(have > j.limit() || j.old(pod), Partition, "creates pod %s of revision %s, of %d nodes %d have an updated one then, partition %d",
		pod.Name, pod.Labels[revisionLabel], j.desired, have, j.partition)
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

// surplus tells whether a pod is one too many on its node. What is available stays. (DS-4)
func (j *daemonSetJudge) surplus(n *daemonNode, pod *corev1.Pod) bool {
	others := slices.DeleteFunc(slices.Clone(n.live), func(other *corev1.Pod) bool {
		return other.UID == pod.UID || preparingDelete(other) || j.maxSurge > 0 && j.old(other) != j.old(pod)
	})
	if len(others) == 0 {
		return false
	}
	replaced := j.maxSurge > 0 && j.old(pod) && n.fresh != nil && j.available(n.fresh) // by an updated one
	j.never(j.available(pod) && !slices.ContainsFunc(others, j.available) && !replaced, Availability,
		"deletes pod %s, the only one of node %s that is available", pod.Name, n.Name)
	return true
}

// checkNewRevision judges a pod that goes to another revision in place. (DS-CR5, DS-13)
func (j *daemonSetJudge) checkNewRevision(known, after *corev1.Pod) {
	is := shortHash(after.Labels[revisionLabel])
	j.never(is != j.update, InPlace, "updates pod %s to revision %s, the template is that of %s", known.Name, is, j.update)
	if !j.old(known) {
		return // it has the present template by another name
	}
	j.never(!j.inPlace(), Needless, "updates pod %s in place, which the strategy does not say", known.Name)
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

type daemons struct {
	set       *v1alpha1.DaemonSet
	pods      map[types.UID]*corev1.Pod
	ready     map[types.UID]bool      // pods that were ready since they were created, or updated in place
	served    map[types.UID]time.Time // since when pods have been available for longer than times in seconds can hide
	names     map[string]types.UID    // of pods with their nodes, as the authors of writes have seen them, behind the author
	disrupted map[string]string       // nodes without an available pod since an update took theirs out of service, and by whom
}

// hidden is what times of the API, in seconds, can hide.
const hidden = 2 * time.Second

func (d *daemons) observe(c *Change) {
	if set, ok := c.After.(*v1alpha1.DaemonSet); ok {
		d.look(c.At)
		if d.set != nil && d.set.UID != set.UID {
			clear(d.disrupted)
		}
		d.set = set
	}
	if d.set == nil {
		return
	}
	switch before := c.Before.(type) {
	case *corev1.Node:
		if c.After == nil || c.After.GetUID() != before.UID {
			d.look(c.At)
			delete(d.disrupted, before.Name)
		}
	case *corev1.Pod:
		d.look(c.At)
		if c.After == nil {
			delete(d.pods, before.UID)
		}
	}
	if pod, ok := c.After.(*corev1.Pod); ok {
		if before, _ := c.Before.(*corev1.Pod); c.By != "" && updated(before, pod) && updating(pod) {
			delete(d.ready, pod.UID)
			delete(d.served, pod.UID)
		}
		d.pods[pod.UID] = pod
		d.look(c.At)
	}
}

func (d *daemons) look(now time.Time) {
	if d.set == nil {
		return
	}
	seconds := d.set.Spec.MinReadySeconds
	for uid, pod := range d.pods {
		if !controls(d.set.UID, pod) || !ready(pod) {
			continue
		}
		d.ready[uid] = true
		if available(pod, seconds, now) {
			delete(d.disrupted, nodeOf(pod))
			if d.served[uid].IsZero() && available(pod, seconds, now.Add(-hidden)) && !condition(pod, corev1.PodReady).LastTransitionTime.Add(hidden).After(now) {
				d.served[uid] = now
			}
		}
	}
}

// checkNames: no pod has the name of one that its node had before, and that its author has seen at a
// write. (DS-7)
func (j *daemonSetJudge) checkNames() {
	seen := j.past.daemons.names
	key := func(pod *corev1.Pod) string { return j.By + "/" + nodeOf(pod) + "/" + pod.Name }
	for _, pod := range among(maps.Values(j.Observed.Pods), j.owned) {
		seen[key(pod)] = pod.UID
	}
	if _, pod := j.pods(); j.Verb == "create" && pod != nil {
		uid, found := seen[key(pod)]
		j.never(found && uid != pod.UID, Identity, "creates pod %s, and its node had another one of this name", pod.Name)
	}
}

// checkTaken: an available pod is taken out of service only while fewer nodes than maxUnavailable are without one.
// Updates never take the pods of more than maxUnavailable nodes out of service, whatever has become of the pods
// meanwhile. (DS-11)
func (j *daemonSetJudge) checkTaken(n *daemonNode, pod *corev1.Pod) {
	before, _ := j.pods()
	isAvailable := j.available(pod)
	without := 1 + len(among(slices.Values(running(j.nodes)), func(other *daemonNode) bool {
		return other.Name != n.Name && j.surelyInTurn(other.Name, n.Name) && !j.serving(other)
	}))
	if without > j.maxUnavailable {
		switch {
		case isAvailable:
			j.add(Availability, "takes pod %s of node %s out of service, %d nodes are without an available one then, maxUnavailable %d", pod.Name, n.Name, without, j.maxUnavailable)
		case j.Verb == "delete" && available(before, j.set.Spec.MinReadySeconds, j.Truth.Now) && serves(pod) && !ready(pod):
			j.add(Availability, "deletes pod %s because it was not ready, and it is available by now", pod.Name)
		}
	}
	d := &j.past.daemons
	d.look(j.Truth.Now)
	if _, already := d.disrupted[n.Name]; already || !j.hasServed(pod) {
		return
	}
	taken := []string{n.Name}
	for _, name := range slices.Sorted(maps.Keys(d.disrupted)) {
		other := j.nodes[name]
		if other != nil && j.surelyInTurn(other.Name, n.Name) && !j.serving(other) && (d.disrupted[name] == j.By || j.showsDisruption(other)) {
			taken = append(taken, name)
		}
	}
	j.never(len(taken) > j.maxUnavailable, Availability,
		"takes pod %s out of service, and updates have the pods of nodes %v out of service then, maxUnavailable %d",
		pod.Name, taken, j.maxUnavailable)
	d.disrupted[n.Name] = j.By
}

func (j *daemonSetJudge) hasServed(pod *corev1.Pod) bool {
	since, until := j.past.daemons.served[pod.UID], j.Known.Now
	if !ready(pod) { // what came later the author has not seen
		c := condition(pod, corev1.PodReady)
		if c == nil {
			return false
		}
		until = c.LastTransitionTime.Add(time.Second)
	}
	return !since.IsZero() && !since.After(until)
}

// showsDisruption tells whether the pods of a node show, without memory of the past, that an update took the former pod
// out of service. There is no old pod, or one that was never ready. (DS-11)
func (j *daemonSetJudge) showsDisruption(n *daemonNode) bool {
	return n.old == nil || !j.past.daemons.ready[n.old.UID]
}
