// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DaemonSet judges a write of the controller of DaemonSets. It must be known what
// its author knew.
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
	if set.DeletionTimestamp != nil && (w.Resource == "pods" || w.Verb == "create") {
		v.add(Needless, "%s of %s %s, the DaemonSet is being deleted", w.Verb, w.Resource, w.name())
	}
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

// daemonSetJudge knows a DaemonSet as the author of a write knew it.
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
	j.readRevisions(w.revisions(set.UID, set.Spec.Selector))
	if j.update == "" && !w.refused("create", "controllerrevisions") { // it was written, and the answer lost
		j.readRevisions(w.Truth.Revisions)
	}
	j.nodes, j.seen = j.survey(w.Known), j.survey(w.Observed)
	j.desired = len(running(j.seen))
	j.readSpec()
	return j
}

func (j *daemonSetJudge) readRevisions(revisions map[string]*appsv1.ControllerRevision) {
	j.update = updateRevision(&j.set.Spec.Template, revisions)
	for hash := range templatesOf(revisions) {
		one := map[string]*appsv1.ControllerRevision{}
		for name, r := range revisions {
			if shortHash(name) == hash {
				one[name] = r
			}
		}
		if updateRevision(&j.set.Spec.Template, one) != "" {
			j.present[hash] = true
		}
	}
}

// readSpec reads the strategies of the spec. (DS-V1, DS-8)
func (j *daemonSetJudge) readSpec() {
	set := j.set
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.Selector)
	j.broken = set.Spec.Selector == nil || err != nil || selector.Empty()
	if set.Spec.BurstReplicas != nil {
		_, err := intstr.GetScaledValueFromIntOrPercent(set.Spec.BurstReplicas, j.desired, false)
		j.broken = j.broken || err != nil
	}
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
		n, err := intstr.GetScaledValueFromIntOrPercent(value, j.desired, true)
		j.broken = j.broken || err != nil || n < 0
		return n
	}
	j.partition = j.heldBack()
	_, err = metav1.LabelSelectorAsSelector(j.rolling.Selector)
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

// heldBack returns how many nodes the partition holds back: a number, or a percentage. (DS-V3)
func (j *daemonSetJudge) heldBack() int {
	partition := ptr.Deref(j.rolling.Partition, intstr.FromInt32(0))
	if partition.Type == intstr.String {
		return j.share(partition)
	}
	return partition.IntValue()
}

// share is how many nodes a percentage holds back, rounded up, but one of several is always left to update. With
// PartitionRoundsDown it is rounded down. (DS-V3, DS-25)
func (j *daemonSetJudge) share(percentage intstr.IntOrString) int {
	if j.past != nil && j.past.PartitionRoundsDown {
		nodes, err := intstr.GetScaledValueFromIntOrPercent(&percentage, j.desired, false)
		j.broken = j.broken || err != nil
		return nodes
	}
	nodes, err := intstr.GetScaledValueFromIntOrPercent(&percentage, j.desired, true)
	j.broken = j.broken || err != nil
	if percentage.StrVal != "100%" && nodes == j.desired && j.desired > 1 {
		nodes--
	}
	return nodes
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

// mayTouch tells what may be written that the DaemonSet does not own: what it adopts.
func (j *daemonSetJudge) mayTouch(before, after Object) bool {
	labels := before.GetLabels()
	if known := j.knownObject(); known != nil { // they may have changed since; then it is released in the next reconcile
		labels = known.GetLabels()
	}
	if metav1.GetControllerOfNoCopy(before) != nil || !matches(j.set.Spec.Selector, labels) {
		return false
	}
	return after != nil && (metav1.IsControlledBy(after, j.set) || j.Resource == "controllerrevisions") ||
		j.Resource == "controllerrevisions" // orphans are used, and dropped, as they are (DS-CR4)
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
