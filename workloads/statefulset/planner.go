package statefulset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// planner holds what the steps of NewPlan hand to one another.
type planner struct {
	*Snapshot
	plan *Plan

	selector labels.Selector
	limits   limits
	rolling  *v1beta1.RollingUpdateStatefulSetStrategy // nil with OnDelete
	ordered  bool                                      // podManagementPolicy OrderedReady
	window   window

	pods      []*pod // the StatefulSet's, by ordinal
	others    []*pod // those that have a name of its pods and are not its own
	wanted    []slot // by ordinal
	condemned []*pod // pods of ordinals that are not wanted, the highest first
	reach     reach  // of the update

	stopped *rollout.Reason // OrderedReady: why nothing goes on beyond a pod
	stage   *rollout.Stage  // of the plan, where the present step belongs
	scaled  bool            // the scale step deletes something: no update unless that is refused
	inOrder bool            // stopped says no more than that

	calculator *inplace.Calculator
	forbids    map[string]*rollout.Reason // why pods stay under InPlaceOnly, by revision label
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

// pod is a pod with what every step wants to know of it.
type pod struct {
	*corev1.Pod
	ordinal     int
	own         bool // the StatefulSet's
	terminating bool
	ended       bool // Failed or Succeeded
	updated     bool // at the update revision
	held        bool // the partition holds it back
	available   bool // Running, and Ready for minReadySeconds (STS-8)
	inPlaceDone bool // no in-place update is under way
	unreadable  bool // nobody can tell whether one is: its record cannot be read
	claims      []rollout.ClaimPatch
	patch       *podpatch.Patch // nil: nothing to change yet
	kind        rollout.PatchKind
	deleted     bool // the plan deletes it
	leaving     bool // the plan replaces it, or takes it out of service for that
	unserving   bool // that it is not ready is why the plan may delete it
	otherwise   bool // the patch belongs into Plan.Otherwise
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

// healthy tells whether a pod serves: it is Ready, and no hook or update has
// taken it aside. (LC-22)
func (p *pod) healthy() bool {
	state := lifecycle.StateOf(p.Pod)
	return !p.terminating && p.ready() && (state == "" || state == lifecyclev1alpha1.StateNormal)
}

// ready tells whether a pod may be serving, for however short a time.
func (p *pod) ready() bool { return p.Status.Phase == corev1.PodRunning && readiness.Ready(p.Pod) }

// adopted tells whether the plan takes a pod over.
func (p *pod) adopted() bool { return p.patch != nil && p.kind == rollout.PatchAdopt }

// mostReplicas is far beyond what a cluster holds. A plan keeps something for
// each of them.
const mostReplicas = 1_000_000

// read checks and computes what the spec says.
func (p *planner) read() (err error) {
	if p.selector, err = p.Snapshot.selector(); err != nil {
		return err
	}
	if p.selector.Empty() {
		return fmt.Errorf("spec.selector: is empty; it must select the labels of the template")
	}
	l := &p.limits
	if l.replicas = p.replicas(); l.replicas < 0 {
		return fmt.Errorf("spec.replicas: found %d, want 0 or more", l.replicas)
	}
	if l.replicas > mostReplicas {
		return fmt.Errorf("spec.replicas: found %d, want %d or less", l.replicas, mostReplicas)
	}
	p.window = newWindow(l.replicas, p.Set.Spec.ReserveOrdinals)
	p.ordered = p.Set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
	l.scaleMaxUnavailable = math.MaxInt32
	if s := p.Set.Spec.ScaleStrategy; s != nil && s.MaxUnavailable != nil {
		if l.scaleMaxUnavailable, err = maxUnavailable(s.MaxUnavailable, l.replicas); err != nil {
			return fmt.Errorf("spec.scaleStrategy.%w", err)
		}
	}
	return p.readUpdateStrategy()
}

func (p *planner) readUpdateStrategy() (err error) {
	if p.Set.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	if p.rolling = p.Set.Spec.UpdateStrategy.RollingUpdate; p.rolling == nil {
		p.rolling = &v1beta1.RollingUpdateStatefulSetStrategy{}
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

// classify finds out whose the pods are and what every step wants to know of
// them, and which of them are wanted. (STS-1, STS-2)
func (p *planner) classify() {
	update := revisionLabelOf(p.plan.Revisions.Update)
	all := make([]pod, len(p.Snapshot.Pods))
	byOrdinal := make([]*pod, 0, len(all))
	for i, shared := range p.Snapshot.Pods {
		ordinal, ok := ordinalOf(p.Set.Name, shared.Name)
		if !ok {
			continue
		}
		pod := &all[i]
		pod.Pod, pod.ordinal = shared, ordinal
		pod.terminating = shared.DeletionTimestamp != nil
		pod.ended = shared.Status.Phase == corev1.PodFailed || shared.Status.Phase == corev1.PodSucceeded
		pod.updated = shared.Labels[revisionLabel] == update
		pod.available = p.available(shared)
		pod.inPlaceDone = true
		p.settleOwner(pod)
		byOrdinal = append(byOrdinal, pod)
	}
	slices.SortFunc(byOrdinal, func(a, b *pod) int { return cmp.Compare(a.ordinal, b.ordinal) })
	p.place(byOrdinal)
}

// settleOwner finds out whether a pod is the StatefulSet's. A pod without a
// controller is taken over, and one that the selector no longer matches is
// given up; either is left alone until that is done.
func (p *planner) settleOwner(pod *pod) {
	controller := metav1.GetControllerOfNoCopy(pod.Pod)
	matches := p.selector.Matches(labels.Set(pod.Labels))
	idle := p.Set.DeletionTimestamp != nil || pod.terminating
	switch {
	case controller != nil && controller.UID != p.Set.UID:
	case controller == nil && matches && !idle:
		owner := ownerReference(p.Set)
		pod.change(rollout.PatchAdopt).AddOwner = &owner
	case controller != nil && matches:
		pod.own = true
	case controller != nil && !idle:
		pod.change(rollout.PatchRelease).RemoveOwner = p.Set.UID
	}
}

// place gives the pods their places in the window.
func (p *planner) place(byOrdinal []*pod) {
	p.wanted = make([]slot, len(p.window.wanted))
	for i, ordinal := range p.window.wanted {
		p.wanted[i].ordinal = ordinal
	}
	p.pods = make([]*pod, 0, len(byOrdinal))
	next := 0 // the first place that may be this pod's
	for _, pod := range byOrdinal {
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

// available tells whether a pod counts as available, and plans another pass
// for the moment when it will. (STS-8)
func (p *planner) available(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning {
		return false
	}
	in, willBe := readiness.ReadyIn(pod, p.limits.minReadySeconds, p.Now)
	if willBe && in > 0 {
		p.requeueAfter(in)
	}
	return willBe && in <= 0
}

// finishPatches lists what the steps collected about each pod and its claims.
func (p *planner) finishPatches() {
	for _, pods := range [][]*pod{p.pods, p.others} {
		for _, pod := range pods {
			if pod.deleted {
				continue
			}
			p.plan.PatchClaims = append(p.plan.PatchClaims, pod.claims...)
			if pod.patch == nil || !pod.patch.Changes(pod.Pod) {
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

// ownerReference says that a StatefulSet controls something.
func ownerReference(set *v1beta1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"))
}

func (p *planner) now() metav1.Time { return metav1.NewTime(p.Now.Truncate(time.Second)) }
