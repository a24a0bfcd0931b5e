// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	podplan.Planner
	*Snapshot
	plan *Plan

	limits   limits
	pods     []*pod // owned and active, by name
	released []*pod // owned, but the selector no longer matches
	inactive []*corev1.Pod
	index    map[*corev1.Pod]*pod                       // of pods, made by byPod
	claims   map[string][]*corev1.PersistentVolumeClaim // by instance id
	dying    map[string]bool                            // instance ids that have a terminating claim

	tally       Tally
	staying     Tally // without the pods that are recreated
	podsChanged bool  // the stage has a step that changes pods: no further one
	unfit       error // why the revision that pods are updated to can have none
}

// limits are the strategies of the spec, in pods.
type limits struct {
	replicas, partition, maxSurge, maxUnavailable, scaleMaxUnavailable int32
}

// pod is an active pod with what every step wants to know of it.
type pod struct {
	podplan.View
	preparingDelete bool
	specified       bool // it was marked for deletion
	evicted         bool // a client awaits room to evict it, and there can be room
	getsClaims      bool // it is released, and gets claims first
}

// The conditions that report problems, as plans name them.
const (
	failedScale  = string(v1alpha1.CloneSetConditionFailedScale)
	failedUpdate = string(v1alpha1.CloneSetConditionFailedUpdate)
)

// workload says what the shared steps know of the CloneSet.
func (p *planner) workload() podplan.Workload {
	set, in := p.Set, podplan.InPlace{Field: "updateStrategy.type", What: "type", NoEnvFromMetadata: p.Features.NoEnvFromMetadata, Resize: p.Features.InPlaceResize}
	in.Only = set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
	in.Allowed = in.Only || set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	if s := set.Spec.UpdateStrategy.InPlaceUpdateStrategy; s != nil {
		in.GraceSeconds = s.GracePeriodSeconds
	}
	return podplan.Workload{
		Object: set, Kind: v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), Selector: set.Spec.Selector, Template: &set.Spec.Template,
		CurrentRevision: set.Status.CurrentRevision, CollisionCount: set.Status.CollisionCount,
		Hooks: set.Spec.Lifecycle, InPlace: in,
		ShortHash: p.Features.ShortHash, TemplateHash: true,
	}
}

// read checks and computes what the spec says.
func (p *planner) read() (err error) {
	if err = p.ReadSelector(); err != nil {
		return err
	}
	strategy, l := &p.Set.Spec.UpdateStrategy, &p.limits
	l.replicas = p.replicas()
	if l.replicas < 0 {
		return fmt.Errorf("spec.replicas: found %d, want 0 or more", l.replicas)
	}
	if l.partition, err = rollout.Partition(strategy.Partition, l.replicas); err != nil {
		return fmt.Errorf("spec.updateStrategy.%w", err)
	}
	if l.maxSurge, err = rollout.MaxSurge(strategy.MaxSurge, l.replicas); err != nil {
		return fmt.Errorf("spec.updateStrategy.%w", err)
	}
	if l.maxUnavailable, err = rollout.MaxUnavailable(strategy.MaxUnavailable, l.replicas, l.maxSurge); err != nil {
		return fmt.Errorf("spec.updateStrategy.%w", err)
	}
	if l.scaleMaxUnavailable, err = rollout.ScaleMaxUnavailable(p.Set.Spec.ScaleStrategy.MaxUnavailable, l.replicas); err != nil {
		return fmt.Errorf("spec.scaleStrategy.%w", err)
	}
	return nil
}

// classify sorts the pods into active, released and inactive ones, and finds
// out what every step wants to know of the active ones. (CS-1, CS-4, CS-7)
func (p *planner) classify() {
	named := map[string]bool{}
	for _, name := range p.Set.Spec.ScaleStrategy.PodsToDelete {
		named[name] = true
	}
	atUpdate := map[string]bool{}
	all := make([]pod, len(p.Snapshot.Pods))
	p.pods = make([]*pod, 0, len(all))
	for i, shared := range p.Snapshot.Pods {
		if !podstate.Active(shared) {
			p.inactive = append(p.inactive, shared)
			continue
		}
		pod := &all[i]
		pod.Pod = shared
		if !p.Selector.Matches(labels.Set(shared.Labels)) {
			p.released = append(p.released, pod)
			continue
		}
		label := shared.Labels[podplan.RevisionLabel]
		updated, known := atUpdate[label]
		if !known {
			updated = revision.Matches(label, p.plan.Revisions.Update.Name)
			atUpdate[label] = updated
		}
		_, specified := shared.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
		pod.Updated = updated && p.Reaches(&pod.View)
		pod.specified = specified || named[shared.Name]
		pod.preparingDelete = lifecycle.StateOf(shared) == lifecyclev1alpha1.StatePreparingDelete
		pod.evicted = p.limits.maxSurge > 0 && lifecycle.AwaitsEviction(shared, p.Now) > 0
		pod.Available = p.Due(lifecycle.AvailableIn(shared, p.Set.Spec.MinReadySeconds, p.Now))
		p.pods = append(p.pods, pod)
	}
	slices.SortFunc(p.pods, func(a, b *pod) int { return strings.Compare(a.Name, b.Name) })
}

// planRelease releases the pods that the selector no longer matches, once they
// own the claims that they use: otherwise it would not be known which pod uses them. (CS-1)
func (p *planner) planRelease() {
	for _, pod := range p.released {
		if !pod.getsClaims {
			p.Release(&pod.View)
			p.podsChanged = p.podsChanged || pod.Deleted
		}
	}
}

// count counts the pods, and computes from that how many are updated. (CS-7 to CS-14)
func (p *planner) count() {
	p.tally = Tally{
		Replicas:            p.limits.replicas,
		Partition:           p.limits.partition,
		MaxUnavailable:      p.limits.maxUnavailable,
		MaxSurge:            p.limits.maxSurge,
		ScaleMaxUnavailable: p.limits.scaleMaxUnavailable,
		SameRevision:        p.plan.Revisions.Current.Name == p.plan.Revisions.Update.Name,
		RollBack:            p.Features.PartitionRollback,
		OnDelete:            p.onDelete(),
		Paused:              p.Set.Spec.UpdateStrategy.Paused,
		ExcludePreparingDelete: p.Features.ExcludePreparingDelete ||
			p.Set.Labels[v1alpha1.CloneSetScalingExcludePreparingDeleteLabel] == "true",
	}
	if p.plan.Revisions.Refused != nil { // no pod gets the update revision (CT-9)
		p.tally.Partition, p.tally.RollBack = p.limits.replicas, false
	}
	for _, pod := range p.pods {
		class := &p.tally.Old
		if pod.Updated {
			class = &p.tally.New
		}
		class.Add(pod.preparingDelete, pod.specified, pod.Available)
		if !pod.preparingDelete && !pod.specified && !pod.Available && lifecycle.Available(pod.Pod, 0, p.Now) {
			p.tally.Settling++
		}
		p.countEvicted(pod)
	}
	p.plan.Diff = p.tally.Diff()
}

// onDelete tells whether only users update pods, by deleting them.
func (p *planner) onDelete() bool {
	return p.Set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType
}

// countEvicted counts a pod for which a client awaits room, as long as that lasts. (LC-29)
func (p *planner) countEvicted(pod *pod) {
	if !pod.evicted || pod.preparingDelete || pod.specified {
		return
	}
	p.RequeueAfter(lifecycle.AwaitsEviction(pod.Pod, p.Now))
	p.tally.Evicted++
	if !pod.Updated {
		p.tally.EvictedOld++
	}
}

// byPod returns what the planner knows of an active pod.
func (p *planner) byPod(shared *corev1.Pod) *pod {
	if p.index == nil {
		p.index = make(map[*corev1.Pod]*pod, len(p.pods))
		for _, pod := range p.pods {
			p.index[pod.Pod] = pod
		}
	}
	return p.index[shared]
}

// finishPatches lists what the steps collected about each pod.
func (p *planner) finishPatches() {
	for _, pods := range [][]*pod{p.pods, p.released} {
		for _, pod := range pods {
			p.Finish(&pod.View)
		}
	}
}
