// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	podplan.Planner
	*Snapshot
	plan *Plan

	limits  limits
	unfit   error                                     // why the update revision can have no pods
	rolling *v1beta1.RollingUpdateStatefulSetStrategy // nil with OnDelete
	ordered bool                                      // podManagementPolicy OrderedReady
	window  window

	all       []pod  // those that have a name of its pods, by ordinal
	pods      []*pod // the StatefulSet's, by ordinal
	others    []*pod // those that have a name of its pods and are not its own
	wanted    []slot // by ordinal
	condemned []*pod // pods of ordinals that are not wanted, the highest first
	reach     reach  // of the update

	stopped *rollout.Reason // OrderedReady: why nothing goes on beyond a pod
	inOrder bool            // stopped says no more than that
	scaled  bool            // the scale step deletes something: no update unless that is refused
}

// limits are the strategies of the spec, in pods and seconds.
type limits struct {
	replicas, partition, maxUnavailable, scaleMaxUnavailable, minReadySeconds int32
}

// slot is a wanted ordinal and the pod that has it.
type slot struct {
	ordinal int
	pod     *pod // nil: there is none
}

// pod is a pod with what every step wants to know of it. It is available if
// it is Running, and Ready for minReadySeconds. With PreNormal no hook has taken it aside, either. (STS-8, STS-36)
type pod struct {
	podplan.View
	ordinal     int
	own         bool // the StatefulSet's
	terminating bool
	ended       bool // Failed or Succeeded
	isReady     bool // Running and Ready
	settled     bool // Running, and Ready for minReadySeconds, whatever has taken it aside
	held        bool // the partition holds it back
	claims      []rollout.ClaimPatch
	growing     bool // a claim of it does not have what its template asks for yet
	resizing    bool // a claim of it is on its way there
	specified   bool // a user has marked it for deletion
	leaving     bool // the plan replaces it, or takes it out of service for that
	unserving   bool // that it is not ready is why the plan may delete it
}

// The conditions that report problems, as plans name them.
const (
	failedCreate = string(v1beta1.StatefulSetConditionFailedCreatePod)
	failedUpdate = string(v1beta1.StatefulSetConditionFailedUpdatePod)
)

// workload says what the shared steps know of the StatefulSet.
func (p *planner) workload() podplan.Owner {
	in := podplan.InPlace{Field: "podUpdatePolicy", What: "policy", NoEnvFromMetadata: p.Features.NoEnvFromMetadata, Resize: p.Features.InPlaceResize, KeepStateless: true}
	if r := p.rolling; r != nil {
		in.Only = r.PodUpdatePolicy == v1beta1.InPlaceOnlyPodUpdateStrategyType
		in.Allowed = in.Only || r.PodUpdatePolicy == v1beta1.InPlaceIfPossiblePodUpdateStrategyType
		if r.InPlaceUpdateStrategy != nil {
			in.GraceSeconds = r.InPlaceUpdateStrategy.GracePeriodSeconds
		}
	}
	return podplan.Owner{
		Object: p.Set, Kind: v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), Selector: p.Set.Spec.Selector, Template: &p.Set.Spec.Template,
		CurrentRevision: p.Set.Status.CurrentRevision, CollisionCount: p.Set.Status.CollisionCount,
		Hooks: p.hooks(), InPlace: in,
	}
}

// healthy tells whether a pod serves: it is Ready, and no hook or update has
// taken it aside. (LC-22)
func (p *pod) healthy() bool {
	return !p.terminating && p.ready() && !p.aside()
}

// aside tells whether a hook or an update has taken a pod out of service.
func (p *pod) aside() bool { return p.State != "" && p.State != lifecyclev1alpha1.StateNormal }

// ready tells whether a pod may be serving, for however short a time.
func (p *pod) ready() bool { return p.isReady }

// adopted tells whether the plan adopts a pod.
func (p *pod) adopted() bool { return p.Patch != nil && p.Kind == rollout.PatchAdopt }

// mostReplicas is far beyond what a cluster holds. A plan keeps something for
// each of them.
const mostReplicas = 1_000_000

// read checks and computes what the spec says.
func (p *planner) read() (err error) {
	if err = p.ReadSelector(); err != nil {
		return err
	}
	l := &p.limits
	if l.replicas = p.replicas(); l.replicas < 0 {
		return fmt.Errorf("spec.replicas: found %d, want 0 or more", l.replicas)
	}
	if l.replicas > mostReplicas {
		return fmt.Errorf("spec.replicas: found %d, want %d or less", l.replicas, mostReplicas)
	}
	if p.window, err = p.newWindow(); err != nil {
		return err
	}
	p.ordered = p.Set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	l.scaleMaxUnavailable = math.MaxInt32
	if s := p.Set.Spec.ScaleStrategy; s != nil && s.MaxUnavailable != nil {
		if l.scaleMaxUnavailable, err = maxUnavailable(s.MaxUnavailable, l.replicas); err != nil {
			return fmt.Errorf("spec.scaleStrategy.%w", err)
		}
	}
	return p.readUpdateStrategy()
}

// rollingUpdate is how the pods of a StatefulSet are updated, nil with OnDelete.
func rollingUpdate(set *v1beta1.StatefulSet) *v1beta1.RollingUpdateStatefulSetStrategy {
	if set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	if r := set.Spec.UpdateStrategy.RollingUpdate; r != nil {
		return r
	}
	return &v1beta1.RollingUpdateStatefulSetStrategy{}
}

func (p *planner) readUpdateStrategy() (err error) {
	if p.rolling == nil {
		return nil
	}
	const at = "spec.updateStrategy.rollingUpdate."
	l := &p.limits
	if p.rolling.Partition != nil {
		l.partition = *p.rolling.Partition
	}
	if l.partition < 0 {
		return fmt.Errorf(at+"partition: found %d, want 0 or more", l.partition)
	}
	if p.rolling.MinReadySeconds != nil {
		l.minReadySeconds = max(*p.rolling.MinReadySeconds, 0)
	}
	if l.maxUnavailable, err = maxUnavailable(p.rolling.MaxUnavailable, l.replicas); err != nil {
		return fmt.Errorf(at+"%w", err)
	}
	return nil
}

// maxUnavailable is a number of pods: a percentage of the replicas is rounded
// down, and one pod may always be unavailable. (STS-9, STS-15)
func maxUnavailable(value *intstr.IntOrString, replicas int32) (int32, error) {
	if value == nil {
		return 1, nil
	}
	n, err := rollout.Count("maxUnavailable", *value, replicas, rollout.RoundDown)
	return max(n, 1), err
}

// classify finds out whose the pods are and what else every step wants to know of
// them, and which of them are wanted. (STS-1, STS-2)
func (p *planner) classify() {
	// Only CloneSets were ever labelled by the hash of a name that is not too long.
	update := p.RevisionValue(p.plan.Revisions.Update.Name)
	for i := range p.all {
		pod := &p.all[i]
		shared := pod.Pod
		pod.terminating = shared.DeletionTimestamp != nil
		pod.ended = podstate.Ended(shared)
		_, marked := shared.Labels[lifecyclev1alpha1.SpecifiedDeleteLabel]
		pod.specified = marked && p.Features.SpecifiedDelete && p.rolling != nil && !p.rolling.Paused
		pod.Updated = pod.Revision == update && p.Reaches(&pod.View)
		if shared.Status.Phase == corev1.PodRunning {
			pod.isReady = readiness.Ready(shared)
			pod.settled = p.Due(readiness.ReadyIn(shared, p.limits.minReadySeconds, p.Now))
		}
		pod.Available = pod.settled && !(p.Features.PreNormal && pod.aside())
		p.settleOwner(pod)
		if pod.own && p.resizes() {
			p.observeVolumes(pod)
		}
	}
	p.place()
}

// observePods reads the pods, by ordinal: all steps go through them as they lie in memory. (STS-2)
func (p *planner) observePods() {
	order := make([]uint64, 0, len(p.Snapshot.Pods)) // each is an ordinal, and below it the place of its pod
	for i, shared := range p.Snapshot.Pods {
		if ordinal, ok := ordinalOf(p.Set.Name, shared.Name); ok {
			order = append(order, uint64(ordinal)<<32|uint64(i))
		}
	}
	slices.Sort(order)
	p.all = make([]pod, len(order))
	for i, key := range order {
		p.all[i].Observe(p.Snapshot.Pods[key&math.MaxUint32])
		p.all[i].ordinal = int(key >> 32)
	}
}

// revisionLabels yields the values of the revision labels of all pods, those of neighbours once.
func (p *planner) revisionLabels(yield func(string) bool) {
	for i := range p.all {
		if label := p.all[i].Revision; (i == 0 || label != p.all[i-1].Revision) && !yield(label) {
			return
		}
	}
}

// settleOwner finds out whether a pod is the StatefulSet's. A pod without a
// controller is adopted, and one that the selector no longer matches is
// released; either is left alone until that is done.
func (p *planner) settleOwner(pod *pod) {
	controller := metav1.GetControllerOfNoCopy(pod.Pod)
	matches := p.Selector.Matches(labels.Set(pod.Labels))
	idle := p.Set.DeletionTimestamp != nil || pod.terminating
	switch {
	case controller != nil && controller.UID != p.Set.UID:
	case controller == nil && matches && !idle:
		owner := p.Owner()
		pod.Change(rollout.PatchAdopt).AddOwner = &owner
	case controller != nil && matches:
		pod.own = true
	case controller != nil && !idle:
		p.Release(&pod.View)
	}
}

// place gives the pods their places in the window.
func (p *planner) place() {
	p.wanted = make([]slot, len(p.window.wanted))
	for i, ordinal := range p.window.wanted {
		p.wanted[i].ordinal = ordinal
	}
	p.pods = make([]*pod, 0, len(p.all))
	next := 0 // the first place that may be this pod's
	for i := range p.all {
		pod := &p.all[i]
		if pod.own {
			p.pods = append(p.pods, pod)
		} else {
			p.others = append(p.others, pod)
		}
		for next < len(p.wanted) && p.wanted[next].ordinal < pod.ordinal {
			next++
		}
		if next < len(p.wanted) && p.wanted[next].ordinal == pod.ordinal {
			p.wanted[next].pod = pod
		} else if pod.own {
			p.condemned = append(p.condemned, pod)
		}
	}
	slices.Reverse(p.condemned)
}

// finishPatches lists what the steps collected about each pod and its claims.
func (p *planner) finishPatches() {
	for _, pods := range [][]*pod{p.pods, p.others} {
		for _, pod := range pods {
			if !pod.Deleted {
				p.plan.PatchClaims = append(p.plan.PatchClaims, pod.claims...)
			}
			if pod.Patch != nil && pod.Patch.Metadata != nil { // its template may name another pod (STS-10)
				p.identify(pod, pod.Patch)
			}
			p.Finish(&pod.View)
		}
	}
}

// hooks are those that a StatefulSet knows: preNormal by a feature alone. (LC-18, STS-36)
func (s *Snapshot) hooks() *lifecyclev1alpha1.Lifecycle {
	hooks := s.Set.Spec.Lifecycle
	if hooks == nil || hooks.PreNormal == nil || s.Features.PreNormal {
		return hooks
	}
	return &lifecyclev1alpha1.Lifecycle{PreDelete: hooks.PreDelete, InPlaceUpdate: hooks.InPlaceUpdate}
}
