// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DaemonSet judges a write of the controller of DaemonSets. It must be known what its author knew.
func (p *Past) DaemonSet(w *Write) []Violation {
	var v violations
	checkPrecise(&v, w)
	set, ok := w.spec().(*v1alpha1.DaemonSet)
	if !ok {
		return nil // it is gone, and nothing of it is touched but by the garbage collector
	}
	j := newDaemonSetJudge(&v, w, set, p)
	hooks := j.hooks()
	checkHooks(&v, w, hooks, set.Spec.Selector)
	checkInPlace(&v, w, hooks)
	checkGraceful(&v, w)
	checkOwnership(&v, w, set.UID, j.mayTouch)
	v.never(set.DeletionTimestamp != nil && (w.Resource == "pods" || w.Verb == "create"), Needless,
		"%s of %s %s, the DaemonSet is being deleted", w.Verb, w.Resource, w.name())
	j.checkNames()
	switch w.Resource {
	case "pods":
		j.checkPod()
	case "controllerrevisions":
		j.history().checkWrite(&v, w)
	case "daemonsets":
		j.checkStatus()
	case "nodes":
		v.add(Ownership, "%s of node %s", w.Verb, w.name())
	}
	return v
}

type daemonSetJudge struct {
	*violations
	*Write
	past    *Past
	set     *v1alpha1.DaemonSet
	broken  bool                             // the spec cannot be understood
	rolling *v1alpha1.RollingUpdateDaemonSet // nil with OnDelete

	update  string          // the short hash of the update revision
	present map[string]bool // short hashes of all revisions of the present template

	nodes   map[string]*daemonNode // as the author knew them
	seen    map[string]*daemonNode // as it observed them, before it wrote
	desired int                    // nodes that should run a pod

	maxUnavailable, maxSurge, partition int
}

func newDaemonSetJudge(v *violations, w *Write, set *v1alpha1.DaemonSet, past *Past) *daemonSetJudge {
	j := &daemonSetJudge{violations: v, Write: w, set: set, past: past, present: map[string]bool{}}
	j.readRevisions(w.revisionsOf(&set.Spec.Template, set.UID, set.Spec.Selector))
	j.nodes, j.seen = j.survey(w.Known), j.survey(w.Observed)
	j.desired = len(running(j.seen))
	j.readSpec()
	return j
}

func (j *daemonSetJudge) readRevisions(revisions map[string]*appsv1.ControllerRevision) {
	j.update = updateRevision(&j.set.Spec.Template, revisions)
	for hash, template := range templatesOf(revisions) {
		if equality.Semantic.DeepEqual(template, &j.set.Spec.Template) {
			j.present[hash] = true
		}
	}
}

// readSpec reads the strategies of the spec. (DS-V1, DS-8)
func (j *daemonSetJudge) readSpec() {
	set := j.set
	j.broken = selectsNothing(set.Spec.Selector)
	scaled(set.Spec.BurstReplicas, j.desired, false, &j.broken) // finds out whether it can be read
	if set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteDaemonSetStrategyType {
		return
	}
	if j.rolling = set.Spec.UpdateStrategy.RollingUpdate; j.rolling == nil {
		j.rolling = &v1alpha1.RollingUpdateDaemonSet{}
	}
	number := func(value *intstr.IntOrString, otherwise int) int {
		if value == nil {
			return otherwise
		}
		n := scaled(value, j.desired, true, &j.broken)
		j.broken = j.broken || n < 0
		return n
	}
	if j.partition = heldBack(j.rolling.Partition, j.desired, &j.broken); j.past != nil && j.past.PartitionRoundsDown { // (DS-25)
		j.partition = scaled(j.rolling.Partition, j.desired, false, &j.broken)
	}
	_, err := metav1.LabelSelectorAsSelector(j.rolling.Selector)
	j.broken = j.broken || j.partition < 0 || err != nil
	surging := 0
	if j.rolling.Type == v1alpha1.DeprecatedSurgingRollingUpdateType {
		surging = 1
	}
	j.maxSurge = number(j.rolling.MaxSurge, surging)
	if j.inPlace() {
		j.maxSurge = 0
	}
	if j.maxUnavailable = number(j.rolling.MaxUnavailable, 0); j.maxSurge == 0 {
		j.maxUnavailable = max(j.maxUnavailable, 1)
	}
}

// progressive tells whether pods are created by and by, as far as the partition lets. (DS-6)
func (j *daemonSetJudge) progressive() bool {
	return j.rolling != nil && j.partition > 0 && j.set.Annotations[v1alpha1.DaemonSetProgressiveCreateAnnotation] == "true"
}

// inPlace tells whether pods are updated in place if that is possible. (DS-13)
func (j *daemonSetJudge) inPlace() bool {
	return j.rolling != nil && j.rolling.Type == v1alpha1.InplaceRollingUpdateType
}

// hooks are those that have an effect. (DS-16)
func (j *daemonSetJudge) hooks() *lifecyclev1alpha1.Lifecycle {
	if l := j.set.Spec.Lifecycle; l != nil {
		return &lifecyclev1alpha1.Lifecycle{PreDelete: l.PreDelete}
	}
	return nil
}

// mayTouch tells what may be written that the DaemonSet does not own: what it adopts. Revisions without an owner are used, and dropped, as
// they are. (DS-CR4)
func (j *daemonSetJudge) mayTouch(_, after Object) bool {
	return j.wasOrphan(j.set.Spec.Selector) && (j.Resource == "controllerrevisions" || after != nil && metav1.IsControlledBy(after, j.set))
}

func (j *daemonSetJudge) owned(pod *corev1.Pod) bool {
	return pod != nil && metav1.IsControlledBy(pod, j.set) && matches(j.set.Spec.Selector, pod.Labels)
}

func (j *daemonSetJudge) old(pod *corev1.Pod) bool {
	return !j.present[shortHash(pod.Labels[revisionLabel])]
}

func (j *daemonSetJudge) available(pod *corev1.Pod) bool {
	return available(pod, j.set.Spec.MinReadySeconds, j.Known.Now)
}

// current returns the current revision, as the author observed it, and its template. A pod that comes back on a node
// that the update does not reach is of this revision. The template is nil if the status names no revision that exists.
func (j *daemonSetJudge) current() (hash string, template *corev1.PodTemplateSpec) {
	seen, _ := j.Observed.Workload.(*v1alpha1.DaemonSet)
	if seen == nil || seen.UID != j.set.UID || seen.Status.CurrentRevision == "" {
		return "", nil
	}
	hash = shortHash(seen.Status.CurrentRevision)
	return hash, templatesOf(j.revisions(j.set.UID, j.set.Spec.Selector))[hash]
}

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
	unscheduled := func(pod *corev1.Pod) int { return one(pod.Spec.NodeName == "") }
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

func (j *daemonSetJudge) serving(n *daemonNode) bool { return slices.ContainsFunc(n.live, j.available) }

// selected tells whether the update is about a node. (DS-9)
func (j *daemonSetJudge) selected(n *daemonNode) bool {
	return j.rolling == nil || j.rolling.Selector == nil || matches(j.rolling.Selector, n.Labels)
}

// limit is to how many nodes the update gets. (DS-9)
func (j *daemonSetJudge) limit() int { return max(j.desired-j.partition, 0) }

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
		case n.old == nil && (node.old != nil || n.Name > node.Name):
			count++
		case n.old != nil && node.old != nil && n.Name > node.Name && j.available(node.old): // otherwise it may be an interrupted one
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

// surelyInTurn tells whether the update gets to a node, given that it gets to another one whose pod is old.
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

// fits tells whether a node should run a pod of a template, and whether one that is there may stay. (DS-2)
func fits(template *corev1.PodTemplateSpec, node *corev1.Node) (runs, stays bool) {
	spec := &template.Spec
	if spec.NodeName != "" && spec.NodeName != node.Name {
		return false, false
	}
	if !scheduler.Selects(spec, node) {
		return false, false
	}
	runs, stays = true, true
	for taint := range each(node.Spec.Taints) {
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
