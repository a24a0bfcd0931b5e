// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// daemons is what has happened to the pods of a DaemonSet.
type daemons struct {
	set       *v1alpha1.DaemonSet
	pods      map[types.UID]*corev1.Pod
	ready     map[types.UID]bool              // pods that were ready since they were created, or updated in place
	served    map[types.UID]time.Time         // since when pods have been available for longer than times in seconds can hide
	names     map[string]map[string]types.UID // of pods with their nodes, as the authors of writes have seen them, by author
	disrupted map[string]string               // nodes without an available pod since an update took theirs out of service, and by whom
}

// hidden is what times of the API, in seconds, can hide.
const hidden = 2 * time.Second

func newDaemons() daemons {
	return daemons{pods: map[types.UID]*corev1.Pod{}, ready: map[types.UID]bool{}, served: map[types.UID]time.Time{}, names: map[string]map[string]types.UID{}, disrupted: map[string]string{}}
}

// observe takes note of a change.
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

// look sees which pods are ready, and available, at a moment.
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
	seen := j.past.daemons.names[j.By]
	if seen == nil {
		seen = map[string]types.UID{}
		j.past.daemons.names[j.By] = seen
	}
	for _, pod := range j.Observed.Pods {
		if j.owned(pod) {
			seen[nodeOf(pod)+"/"+pod.Name] = pod.UID
		}
	}
	if _, pod := j.pods(); j.Verb == "create" && pod != nil {
		if uid, found := seen[nodeOf(pod)+"/"+pod.Name]; found && uid != pod.UID {
			j.add(Identity, "creates pod %s, and its node had another one of this name", pod.Name)
		}
	}
}

// checkTaken: an available pod is taken out of service only while fewer nodes than maxUnavailable are without one.
// Updates never take the pods of more than maxUnavailable nodes out of service, whatever has become of the pods
// meanwhile. (DS-11)
func (j *daemonSetJudge) checkTaken(n *daemonNode, pod *corev1.Pod) {
	before, _ := j.pods()
	isAvailable := j.available(pod)
	without := 1
	for _, other := range running(j.nodes) {
		if other.Name != n.Name && j.surelyInTurn(other.Name, n.Name) && !j.serving(other) {
			without++
		}
	}
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
	if len(taken) > j.maxUnavailable {
		j.add(Availability, "takes pod %s out of service, and updates have the pods of nodes %v out of service then, maxUnavailable %d", pod.Name, taken, j.maxUnavailable)
	}
	d.disrupted[n.Name] = j.By
}

// hasServed tells whether a pod, as the author knew it, had been available.
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
