// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// classify sorts the pods into active, released and inactive ones. It finds out what every step wants to know of the active ones.
// It leaves out what depends on the revisions. (CS-1, CS-4, CS-7)
func (p *planner) classify() {
	named := map[string]bool{}
	for _, name := range p.Set.Spec.ScaleStrategy.PodsToDelete {
		named[name] = true
	}
	p.all = make([]pod, len(p.Snapshot.Pods))
	label := ""
	for i, rank := range podplan.RanksByName(p.Snapshot.Pods, (*corev1.Pod).GetName) {
		shared, pod := p.Snapshot.Pods[i], &p.all[rank]
		if pod.Observe(shared); pod.Revision == label {
			pod.Revision = label // pods of one revision share the text: to compare it later costs no look at the pod
		}
		label = pod.Revision
		switch {
		case !podstate.Active(shared):
			p.inactive = append(p.inactive, shared)
			continue
		case !p.Selector.Matches(labels.Set(shared.Labels)):
			p.released = append(p.released, pod)
			continue
		}
		pod.active = true
		pod.labelled = label == "" || shared.Labels[podplan.TemplateHashLabel] != ""
		_, pod.specified = shared.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
		pod.specified = pod.specified || named[shared.Name]
		pod.preparingDelete = pod.State == lifecyclev1alpha1.StatePreparingDelete
		pod.evicted = p.limits.maxSurge > 0 && lifecycle.AwaitsEviction(shared, p.Now) > 0
	}
	p.pods = make([]*pod, 0, len(p.all))
	for i := range p.all {
		if p.all[i].active {
			p.pods = append(p.pods, &p.all[i])
		}
	}
}

// revisionLabels yields the values of the revision labels of all pods.
func (p *planner) revisionLabels(yield func(string) bool) {
	for i := range p.all {
		if label := p.all[i].Revision; (i == 0 || label != p.all[i-1].Revision) && !yield(label) {
			return
		}
	}
}

// findUpdated finds out which pods are at the update revision, and which are available. (CS-7)
func (p *planner) findUpdated() {
	minReadySeconds := p.Set.Spec.MinReadySeconds
	for _, pod := range p.pods {
		pod.Updated = revision.Matches(pod.Revision, p.plan.Revisions.Update.Name) && p.Reaches(&pod.View)
		pod.Available = pod.Serves() && (minReadySeconds <= 0 || p.Due(readiness.ReadyIn(pod.Pod, minReadySeconds, p.Now)))
		p.TellSince(&pod.View)
	}
}

// planDiff counts the pods, and finds the numbers that the scale step and the update step follow from: they may count
// pods differently. (CS-43)
func (p *planner) planDiff() {
	p.tally = p.count((*planner).updated)
	p.scaling, p.plan.Diff = p.tally, p.tally.diff()
	if p.Features.PreparingUpdateAsUpdate {
		p.scaling = p.count((*planner).updatedForScale)
		update := p.plan.Diff
		p.plan.Diff = p.scaling.diff()
		p.plan.Diff.Update, p.plan.Diff.UpdateMaxUnavailable = update.Update, update.UpdateMaxUnavailable
	}
}

// count counts the pods, beside what the spec wants; updated tells which are of the new class. (CS-7 to CS-14)
func (p *planner) count(updated func(*planner, *pod) bool) tally {
	t := tally{
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
		t.Partition, t.RollBack = p.limits.replicas, false
	}
	for _, pod := range p.pods {
		class := &t.Old
		isUpdated := updated(p, pod)
		if isUpdated {
			class = &t.New
		}
		class.add(1, pod.preparingDelete, pod.specified, pod.Available)
		if pod.preparingDelete || pod.specified {
			continue
		}
		if pod.settling() {
			t.Settling++
		}
		if pod.evicted { // as long as that lasts (LC-29)
			p.RequeueAfter(lifecycle.AwaitsEviction(pod.Pod, p.Now))
			t.Evicted++
			if !isUpdated {
				t.EvictedOld++
			}
		}
	}
	return t
}

// onDelete tells whether only users update pods, by deleting them.
func (p *planner) onDelete() bool {
	return p.Set.Spec.UpdateStrategy.Type == v1alpha1.OnDeleteCloneSetUpdateStrategyType
}

// planRelease releases the pods that the selector no longer matches, once they own the claims that they use. Before that, nothing
// else would tell which pod uses them. It returns whether it deletes any. (CS-1)
func (p *planner) planRelease() (deletes bool) {
	for _, pod := range p.released {
		if !pod.getsClaims {
			p.Release(&pod.View)
			deletes = deletes || pod.Deleted
		}
	}
	return deletes
}

// finishPatches lists what the steps collected about each pod.
func (p *planner) finishPatches() {
	patched := 0
	for _, pod := range p.pods {
		if pod.Patch != nil {
			patched++
		}
	}
	p.plan.Patch = slices.Grow(p.plan.Patch, patched)
	for _, pods := range [][]*pod{p.pods, p.released} {
		for _, pod := range pods {
			p.Finish(&pod.View)
		}
	}
}

// ownPods yields the active pods.
func (p *planner) ownPods(yield func(*corev1.Pod) bool) {
	for _, pod := range p.pods {
		if !yield(pod.Pod) {
			return
		}
	}
}
