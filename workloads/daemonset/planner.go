// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	podplan.Planner
	*Snapshot
	plan *Plan

	rolling *v1alpha1.RollingUpdateDaemonSet // nil with OnDelete
	chosen  labels.Selector                  // of the nodes to update
	limits  limits
	unfit   error           // why the update revision can have no pods
	equal   map[string]bool // labels of revisions that hold the present template under another name

	nodes   []*nodePods // by name
	desired int32       // nodes that should run a pod
	pods    []*pod      // the DaemonSet's, by name
	others  []*pod      // those to be adopted or released
	strays  []*pod      // unscheduled pods of nodes that are gone
	astray  []*pod      // unscheduled pods that are for no node
	current string      // the label of pods of the current revision
	turn    []*nodePods // the nodes that the update may get to, in its order

	fresh, old *podMaker       // of the present template, and of the current revision if that is another
	taken      map[string]bool // names that new pods cannot have, made by takenNames
	deferred   int32           // nodes without a pod that the partition holds back
	forgone    int             // pods that are not created, since others are for no node

	inPlaceUpdates int // begun by the plan
}

// limits are the strategies of the spec, in nodes.
type limits struct {
	maxUnavailable, maxSurge, partition int32
	burst                               int
}

// nodePods is a node with its pods.
type nodePods struct {
	name  string
	node  *corev1.Node
	runs  bool // it should run a pod
	stays bool // a pod that it has may go on
	away  bool // its kubelet is: nothing that is asked of its pods happens

	pods    []*pod // neither ended nor terminating, scheduled ones first, the oldest first
	ended   []*pod // Failed or Succeeded, not terminating, in the same order
	leaving bool   // a pod is terminating that has not ended
	last    *pod   // of all pods of the node, and of those released, the one that came last
	adopts  bool   // a pod is adopted, and is the DaemonSet's from then on

	old, fresh *pod // the oldest pods of either kind that are not prepared for deletion
	crowded    bool // it has several pods of a kind
	inTurn     bool // the update may get to it
	deferred   bool // the partition holds back its pod (DS-6)
}

// pod is a pod with what every step wants to know of it.
type pod struct {
	podplan.View
	own         bool // the DaemonSet's
	terminating bool
	ended       bool // Failed or Succeeded
	preparing   bool // its preDelete hook holds it
	relabel     bool // its revision holds the present template under another name
}

// The conditions that report problems, as plans name them.
const (
	failedCreate = string(v1alpha1.DaemonSetConditionFailedCreatePod)
	failedUpdate = string(v1alpha1.DaemonSetConditionFailedUpdatePod)
)

// workload says what the shared steps know of the DaemonSet.
func (p *planner) workload() podplan.Owner {
	in := podplan.InPlace{Field: "rollingUpdateType", What: "type", NoEnvFromMetadata: p.Features.NoEnvFromMetadata, Resize: p.Features.InPlaceResize, KeepStateless: true}
	in.Allowed = p.rolling != nil && p.rolling.Type == v1alpha1.InplaceRollingUpdateType
	w := podplan.Owner{
		Object: p.Set, Kind: v1alpha1.SchemeGroupVersion.WithKind(kind), Selector: p.Set.Spec.Selector, Template: &p.Set.Spec.Template,
		CurrentRevision: p.Set.Status.CurrentRevision, CollisionCount: p.Set.Status.CollisionCount,
		InPlace: in, ShortHash: true,
	}
	if l := p.Set.Spec.Lifecycle; l != nil { // the other hooks have no effect (DS-16)
		w.Hooks = &lifecyclev1alpha1.Lifecycle{PreDelete: l.PreDelete}
	}
	return w
}

// rollingUpdate is how the pods of a DaemonSet are updated, nil with OnDelete.
func rollingUpdate(set *v1alpha1.DaemonSet) *v1alpha1.RollingUpdateDaemonSet {
	if set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteDaemonSetStrategyType {
		return nil
	}
	rolling := set.Spec.UpdateStrategy.RollingUpdate.DeepCopy()
	if rolling == nil {
		rolling = &v1alpha1.RollingUpdateDaemonSet{}
	}
	defaultRollingUpdate(rolling)
	return rolling
}

// read checks and computes what the spec says.
func (p *planner) read() (err error) {
	if selector := p.Set.Spec.Selector; selector != nil && len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		p.plan.SelectsAll = true
		return errors.New("spec.selector: is empty, and selects all pods; it must select the labels of the template")
	}
	if err = p.ReadSelector(); err != nil {
		return err
	}
	p.chosen = labels.Everything()
	if p.rolling != nil && p.rolling.Selector != nil {
		if p.chosen, err = metav1.LabelSelectorAsSelector(p.rolling.Selector); err != nil {
			return fmt.Errorf("spec.updateStrategy.rollingUpdate.selector: %w", err)
		}
	}
	p.placeNodes()
	return p.readLimits()
}

// placeNodes finds out which nodes should run a pod. (DS-2)
func (p *planner) placeNodes() {
	fit := nodefit.NewDaemon(daemonSpec(&p.Set.Spec.Template.Spec))
	all := make([]nodePods, len(p.Nodes))
	p.nodes = make([]*nodePods, len(all))
	for i, rank := range podplan.RanksByName(p.Nodes, (*corev1.Node).GetName) {
		node, n := p.Nodes[i], &all[rank]
		n.name, n.node = node.Name, node
		n.runs = fit.Check(node) == ""
		_, n.away = nodefit.Unreachable(node)
		n.stays = n.runs || fit.Stays(node)
		if n.runs {
			p.desired++
		}
		p.nodes[rank] = n
	}
}

// readLimits computes the numbers of the spec. (DS-7, DS-8)
func (p *planner) readLimits() (err error) {
	l, burst := &p.limits, ptr.Deref(p.Set.Spec.BurstReplicas, defaultBurst)
	n, err := rollout.Count("spec.burstReplicas", burst, p.desired, rollout.RoundDown)
	if err != nil {
		return err
	}
	l.burst = min(max(int(n), 1), rollout.MostCreations)
	if p.rolling == nil {
		return nil
	}
	const at = "spec.updateStrategy.rollingUpdate."
	if l.partition, err = p.Features.Partition(partitionOf(p.Set), p.desired); err != nil {
		return fmt.Errorf(at+"%w", err)
	}
	if l.maxSurge, err = rollout.MaxSurge(p.rolling.MaxSurge, p.desired); err != nil {
		return fmt.Errorf(at+"%w", err)
	}
	if p.rolling.MaxUnavailable != nil {
		if l.maxUnavailable, err = rollout.Count("maxUnavailable", *p.rolling.MaxUnavailable, p.desired, rollout.RoundUp); err != nil {
			return fmt.Errorf(at+"%w", err)
		}
	}
	if l.maxSurge == 0 || p.Workload.InPlace.Allowed {
		l.maxSurge, l.maxUnavailable = 0, max(l.maxUnavailable, 1)
	}
	return nil
}

// partitionOf returns the partition of a DaemonSet; nil if it has none.
func partitionOf(set *v1alpha1.DaemonSet) *intstr.IntOrString {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return rolling.Partition
	}
	return nil
}

// classify finds out whose the pods are, which node they are for, and what every
// step wants to know of them. (DS-3, DS-4)
func (p *planner) classify() {
	byName, room := make(map[string]*nodePods, len(p.nodes)), make([]*pod, len(p.nodes))
	for i, n := range p.nodes {
		byName[n.name] = n
		n.pods = room[i : i : i+1] // most have one
	}
	update := p.RevisionValue(p.plan.Revisions.Update.Name)
	all := make([]pod, len(p.Snapshot.Pods))
	p.pods = make([]*pod, 0, len(all))
	for i, shared := range p.Snapshot.Pods {
		pod := &all[i]
		pod.Pod = shared
		pod.terminating = shared.DeletionTimestamp != nil
		pod.ended = podstate.Ended(shared)
		if !p.settleOwner(pod) {
			p.others = append(p.others, pod)
			if n := byName[nodefit.NodeOf(shared)]; n != nil && (pod.Patch != nil || metav1.IsControlledBy(shared, p.Set)) { // or is released no more
				n.adopts = n.adopts || pod.Patch != nil && pod.Kind == rollout.PatchAdopt
				p.follow(n, pod)
			}
			continue
		}
		label := shared.Labels[podplan.RevisionLabel]
		pod.relabel = p.equal[label]
		pod.Updated = (label == update || pod.relabel || label == p.plan.Revisions.Update.Name) && p.Reaches(&pod.View)
		pod.preparing = lifecycle.StateOf(shared) == lifecyclev1alpha1.StatePreparingDelete
		if !pod.terminating && !pod.ended {
			pod.Available = p.Due(lifecycle.AvailableIn(shared, p.Set.Spec.MinReadySeconds, p.Now))
		}
		p.pods = append(p.pods, pod)
		p.settle(pod, byName)
	}
	podplan.SortByName(p.pods, (*pod).GetName)
	for _, n := range p.nodes {
		for _, pods := range [][]*pod{n.pods, n.ended} {
			if len(pods) > 1 {
				slices.SortFunc(pods, byAge)
			}
		}
	}
}

// settle gives a pod to its node. One whose node is gone is left to the garbage
// collector of pods, which does not see those that were never scheduled. (DS-5, DS-21)
func (p *planner) settle(pod *pod, byName map[string]*nodePods) {
	name := nodefit.NodeOf(pod.Pod)
	n := byName[name]
	if n != nil {
		p.follow(n, pod)
	}
	switch {
	case n == nil && pod.Spec.NodeName == "" && !pod.terminating && !pod.ended && name == "":
		p.astray = append(p.astray, pod)
	case n == nil && name != "" && pod.Spec.NodeName == "" && !pod.terminating:
		p.strays = append(p.strays, pod)
	case n == nil:
	case pod.terminating && !pod.ended:
		n.leaving = true
	case pod.terminating:
	case pod.ended:
		n.ended = append(n.ended, pod)
	default:
		n.pods = append(n.pods, pod)
	}
}

// follow takes a pod for the last one of its node, if it is. (DS-7)
func (p *planner) follow(n *nodePods, pod *pod) {
	if n.last == nil || nodefit.Follows(p.Set, n.name, pod.Pod, n.last.Pod) {
		n.last = pod
	}
}

// byAge orders the pods of a node: scheduled ones first, the oldest first. (DS-4)
func byAge(a, b *pod) int {
	unscheduled := func(p *pod) int {
		if p.Spec.NodeName == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(unscheduled(a), unscheduled(b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// settleOwner tells whether a pod is the DaemonSet's. A pod without a controller is
// adopted, and one that the selector no longer matches is released; either is left
// alone until that is done. (DS-3)
func (p *planner) settleOwner(pod *pod) bool {
	controller := metav1.GetControllerOfNoCopy(pod.Pod)
	matches := p.Selector.Matches(labels.Set(pod.Labels))
	switch {
	case controller == nil && matches && !pod.terminating:
		owner := p.Owner()
		pod.Change(rollout.PatchAdopt).AddOwner = &owner
	case controller == nil, controller.UID != p.Set.UID:
	case matches:
		pod.own = true
	case !pod.terminating:
		p.Release(&pod.View)
	}
	return pod.own
}

// finishPatches lists what the steps collected about each pod.
func (p *planner) finishPatches() {
	for _, pods := range [][]*pod{p.pods, p.others} {
		for _, pod := range pods {
			p.Finish(&pod.View)
		}
	}
}

// ready tells whether a pod may be serving, for however short a time.
func (p *pod) ready() bool { return p.Status.Phase == corev1.PodRunning && readiness.Ready(p.Pod) }
