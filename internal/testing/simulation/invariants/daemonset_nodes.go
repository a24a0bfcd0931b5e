// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

// daemonNode is a node with the pods of a DaemonSet.
type daemonNode struct {
	*corev1.Node
	runs, stays bool          // it should run a pod; one that is there may stay
	live        []*corev1.Pod // neither ended nor terminating, scheduled ones first, the oldest first
	ended       []*corev1.Pod // Failed or Succeeded, and not terminating
	leaving     bool          // a pod is terminating that has not ended
	orphan      bool          // a pod is there that will be adopted

	old, fresh *corev1.Pod // the first of either kind whose deletion is not prepared
	crowded    bool        // there are several of a kind
	ahead      bool        // it has an updated pod, or is crowded
}

// nodeOf is the node that a pod is on, or is for; empty if it is for none.
func nodeOf(pod *corev1.Pod) string { return scheduler.NodeOf(pod) }

// survey finds out what there is on each node of a state.
func (j *daemonSetJudge) survey(s *State) map[string]*daemonNode {
	nodes := make(map[string]*daemonNode, len(s.Nodes))
	for name, node := range s.Nodes {
		n := &daemonNode{Node: node}
		n.runs, n.stays = fits(&j.set.Spec.Template, node)
		nodes[name] = n
	}
	for _, pod := range s.Pods {
		n, hasEnded := nodes[nodeOf(pod)], ended(pod)
		if n == nil {
			continue
		}
		switch leaves := pod.DeletionTimestamp != nil; {
		case !leaves && matches(j.set.Spec.Selector, pod.Labels) && (metav1.GetControllerOfNoCopy(pod) == nil || j.adopts(pod)):
			n.orphan = true
		case !j.owned(pod):
		case leaves:
			n.leaving = n.leaving || !hasEnded
		case hasEnded:
			n.ended = append(n.ended, pod)
		default:
			n.live = append(n.live, pod)
		}
	}
	for _, n := range nodes {
		slices.SortFunc(n.live, elder)
		slices.SortFunc(n.ended, elder)
		j.sort(n)
	}
	return nodes
}

// adopts tells whether a pod had no owner when the author looked: it plans without it.
func (j *daemonSetJudge) adopts(pod *corev1.Pod) bool {
	seen := j.Observed.Pods[pod.Name]
	return seen != nil && seen.UID == pod.UID && metav1.GetControllerOfNoCopy(seen) == nil
}

// elder orders the pods of a node. (DS-4)
func elder(a, b *corev1.Pod) int {
	unscheduled := func(pod *corev1.Pod) int {
		if pod.Spec.NodeName == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(unscheduled(a), unscheduled(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// sort finds out which of its pods are old, and which updated.
func (j *daemonSetJudge) sort(n *daemonNode) {
	old, fresh := 0, 0
	for _, pod := range n.live {
		counted, first := &fresh, &n.fresh
		if j.old(pod) {
			counted, first = &old, &n.old
		}
		if *counted++; *first == nil && !preparingDelete(pod) {
			*first = pod
		}
	}
	n.crowded = old > 1 || fresh > 1
	n.ahead = n.crowded || fresh > 0
}

// serving tells whether a pod of a node is available.
func (j *daemonSetJudge) serving(n *daemonNode) bool { return slices.ContainsFunc(n.live, j.available) }

// selected tells whether the update is about a node. (DS-9)
func (j *daemonSetJudge) selected(n *daemonNode) bool {
	return j.rolling == nil || j.rolling.Selector == nil || matches(j.rolling.Selector, n.Labels)
}

// limit is to how many nodes the update gets. (DS-9)
func (j *daemonSetJudge) limit() int { return max(j.desired-j.partition, 0) }

// running are the nodes that should run a pod, by name.
func running(of map[string]*daemonNode) (nodes []*daemonNode) {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if n := of[name]; n.runs {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// before counts the nodes that the update surely gets to before one. (DS-9)
func (j *daemonSetJudge) before(node *daemonNode) (count int) {
	for _, n := range running(j.seen) {
		switch {
		case n == node:
		case n.ahead:
			count++
		case !j.selected(n):
		case n.old == nil:
			if node.old != nil || n.Name > node.Name {
				count++
			}
		case node.old != nil && n.Name > node.Name && j.available(node.old): // otherwise it may be an interrupted one
			count++
		}
	}
	return count
}

// outOfTurn says why the update surely does not get to a node, empty if it may: by
// what was there when the author looked. (DS-9)
func (j *daemonSetJudge) outOfTurn(name string) string {
	n := j.seen[name]
	switch {
	case n == nil || !n.runs:
		return "which should run none"
	case n.ahead && j.partition == 0:
		return ""
	case !n.ahead && !j.selected(n):
		return "which the selector of the update does not match"
	case !n.ahead && j.before(n) >= j.limit():
		return "which the partition holds back"
	}
	return ""
}

// surelyInTurn tells whether the update gets to a node, given that it gets to another
// one whose pod is old.
func (j *daemonSetJudge) surelyInTurn(name, given string) bool {
	n, other := j.seen[name], j.seen[given]
	switch {
	case n == nil || other == nil || !n.runs:
		return false
	case n.ahead:
		return true
	case !j.selected(n):
		return false
	}
	return j.partition == 0 || !other.ahead && (n.old == nil || other.old != nil && j.available(other.old) && n.Name > given)
}

// tolerated are the taints that keep away no pod of a DaemonSet. (DS-2)
var tolerated = map[string]corev1.TaintEffect{
	corev1.TaintNodeNotReady: corev1.TaintEffectNoExecute, corev1.TaintNodeUnreachable: corev1.TaintEffectNoExecute,
	corev1.TaintNodeDiskPressure: corev1.TaintEffectNoSchedule, corev1.TaintNodeMemoryPressure: corev1.TaintEffectNoSchedule,
	corev1.TaintNodePIDPressure: corev1.TaintEffectNoSchedule, corev1.TaintNodeUnschedulable: corev1.TaintEffectNoSchedule,
}

// fits tells whether a node should run a pod of a template, and whether one that is
// there may stay. (DS-2)
func fits(template *corev1.PodTemplateSpec, node *corev1.Node) (runs, stays bool) {
	spec := &template.Spec
	if spec.NodeName != "" && spec.NodeName != node.Name {
		return false, false
	}
	if !scheduler.Selects(spec, node) {
		return false, false
	}
	runs, stays = true, true
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		if tolerated[taint.Key] == taint.Effect || scheduler.Tolerates(spec, taint) {
			continue
		}
		switch taint.Effect {
		case corev1.TaintEffectNoExecute:
			runs, stays = false, false
		case corev1.TaintEffectNoSchedule:
			runs = false
		}
	}
	return runs, stays
}
