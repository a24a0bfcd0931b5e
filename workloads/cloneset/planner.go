package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	selector labels.Selector
	limits   limits
	pods     []*pod // owned and active, by name
	released []*pod // owned, but the selector no longer matches
	inactive []*corev1.Pod
	index    map[*corev1.Pod]*pod                       // of pods, made by byPod
	claims   map[string][]*corev1.PersistentVolumeClaim // by instance id
	dying    map[string]bool                            // instance ids that have a terminating claim
	asked    map[string]bool                            // new instance ids, made by asksFor

	tally Tally
	stage *rollout.Stage // of the plan, where the present step belongs
	moved bool           // that stage has a step that moves pods: no further one

	calculator *inplace.Calculator
	forbids    map[string]*rollout.Reason // why pods stay under InPlaceOnly, by revision label
}

// limits are the strategies of the spec, in pods.
type limits struct {
	replicas, partition, maxSurge, maxUnavailable, scaleMaxUnavailable int32
}

// pod is an active pod with what every step wants to know of it.
type pod struct {
	*corev1.Pod
	updated         bool // at the update revision
	preparingDelete bool
	specified       bool // somebody picked it for deletion
	available       bool
	unreadable      bool            // its record of an update in place is
	patch           *podpatch.Patch // nil: nothing to change yet
	kind            rollout.PatchKind
	handsOver       bool // it is given up, and gets claims first
	deleted         bool // the plan deletes it
	otherwise       bool // the patch belongs into Plan.Otherwise
}

// change returns the patch of a pod, to be filled in. What the patch is for is
// the latest kind.
func (p *pod) change(kind rollout.PatchKind) *podpatch.Patch {
	if p.patch == nil {
		p.patch = &podpatch.Patch{}
	}
	p.kind = kind
	return p.patch
}

// read checks and computes what the spec says.
func (p *planner) read() (err error) {
	if p.selector, err = p.Snapshot.selector(); err != nil {
		return err
	}
	if p.selector.Empty() {
		return fmt.Errorf("spec.selector: is empty; it must select the labels of the template")
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
		if !active(shared) {
			p.inactive = append(p.inactive, shared)
			continue
		}
		pod := &all[i]
		pod.Pod = shared
		if !p.selector.Matches(labels.Set(shared.Labels)) {
			p.released = append(p.released, pod)
			continue
		}
		label := shared.Labels[revisionLabel]
		updated, known := atUpdate[label]
		if !known {
			updated = revision.Matches(label, p.plan.Revisions.Update.Name)
			atUpdate[label] = updated
		}
		_, specified := shared.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
		pod.updated = updated
		pod.specified = specified || named[shared.Name]
		pod.preparingDelete = lifecycle.StateOf(shared) == lifecyclev1alpha1.StatePreparingDelete
		pod.available = p.available(shared)
		p.pods = append(p.pods, pod)
	}
	slices.SortFunc(p.pods, func(a, b *pod) int { return strings.Compare(a.Name, b.Name) })
}

// planRelease gives up the pods that the selector no longer matches, once they
// own the claims that they use: otherwise nobody would know who uses these. (CS-1)
func (p *planner) planRelease() {
	for _, pod := range p.released {
		if !pod.handsOver {
			pod.change(rollout.PatchRelease).RemoveOwner = p.Set.UID
		}
	}
}

// available tells whether a pod counts as available, and plans another pass
// for the moment when it will.
func (p *planner) available(pod *corev1.Pod) bool {
	in, willBe := lifecycle.AvailableIn(pod, p.Set.Spec.MinReadySeconds, p.Now)
	if willBe && in > 0 {
		p.requeueAfter(in)
	}
	return willBe && in <= 0
}

// count counts the pods, and computes from that how many move. (CS-7 to CS-14)
func (p *planner) count() {
	p.tally = Tally{
		Replicas:            p.limits.replicas,
		Partition:           p.limits.partition,
		MaxUnavailable:      p.limits.maxUnavailable,
		MaxSurge:            p.limits.maxSurge,
		ScaleMaxUnavailable: p.limits.scaleMaxUnavailable,
		SameRevision:        p.plan.Revisions.Current.Name == p.plan.Revisions.Update.Name,
		RollBack:            p.Features.PartitionRollback,
		ExcludePreparingDelete: p.Features.ExcludePreparingDelete ||
			p.Set.Labels[v1alpha1.CloneSetScalingExcludePreparingDeleteLabel] == "true",
	}
	for _, pod := range p.pods {
		class := &p.tally.Old
		if pod.updated {
			class = &p.tally.New
		}
		class.Add(pod.preparingDelete, pod.specified, pod.available)
	}
	p.plan.Moves = p.tally.Moves()
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
			if pod.patch == nil || pod.deleted || !pod.patch.Changes(pod.Pod) {
				continue
			}
			stage := &p.plan.Stage
			if pod.otherwise {
				stage = &p.plan.Otherwise
			}
			stage.Patch = append(stage.Patch, rollout.PodPatch{Pod: pod.Pod, Patch: pod.patch, Kind: pod.kind})
		}
	}
}

// active tells whether a pod counts at all: it has not ended and is not being deleted.
func active(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil &&
		pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func (p *planner) now() metav1.Time { return metav1.NewTime(p.Now.Truncate(time.Second)) }
