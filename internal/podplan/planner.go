// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/heldup"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Owner is what the steps that all kinds share know of a workload.
type Owner struct {
	// Object is the workload, and Kind its kind. It controls what is created.
	Object metav1.Object
	Kind   schema.GroupVersionKind
	// Selector is that of the spec, by which pods belong to the workload.
	Selector *metav1.LabelSelector
	// Template is what new pods are made of.
	Template *corev1.PodTemplateSpec
	// CurrentRevision and CollisionCount are those of the status.
	CurrentRevision string
	CollisionCount  *int32
	// Hooks are those of the hooks of the spec that the kind has. May be nil.
	Hooks *lifecyclev1alpha1.Lifecycle
	// InPlace is how pods are updated in place.
	InPlace InPlace

	// ShortHash labels pods with the hash of their revision instead of its name.
	ShortHash bool
	// RevisionAnnotations are written into revisions that are created or raised, over those of the workload. May be nil.
	RevisionAnnotations map[string]string
	// UntilBound leaves a new pod alone that no preNormal hook holds, until it has a node. (LC-30)
	UntilBound bool
	// TemplateHash also labels them with the hash as Deployments do.
	TemplateHash bool
}

// InPlace is how the pods of a workload are updated in place.
type InPlace struct {
	// Allowed says that pods are updated in place if that is possible, and Only
	// that they are never recreated for an update, which implies Allowed.
	Allowed, Only bool
	// GraceSeconds is how long a pod is not ready before its containers change.
	GraceSeconds int32
	// NoEnvFromMetadata is as in inplace.CalculateOptions.
	NoEnvFromMetadata bool
	// Resize and SameAnnotation are as in inplace.CalculateOptions; with Only there is no SameAnnotation.
	Resize         bool
	SameAnnotation string
	// KeepStateless leaves pods without a lifecycle state without one, as long
	// as no hook asks for it. (LC-19)
	KeepStateless bool
	// Field is the field of the spec that may say InPlaceOnly, and What says in a
	// word what it is.
	Field, What string
}

// Options are those by which the revisions of the workload are compared.
func (in *InPlace) Options() inplace.CalculateOptions {
	o := inplace.CalculateOptions{NoEnvFromMetadata: in.NoEnvFromMetadata, Resize: in.Resize}
	if !in.Only {
		o.SameAnnotation = in.SameAnnotation
	}
	return o
}

// Planner holds what the steps that all kinds share hand to one another. The
// planner of a kind embeds it. It is made by NewPlanner; Workload, At,
// History and Refusals are set once the snapshot has turned out to be usable.
type Planner struct {
	Workload Owner
	Selector labels.Selector // Workload.Selector as ReadSelector reads it; nil before
	At       time.Time       // for which to plan
	History  []*appsv1.ControllerRevision
	Refusals rollout.Refusals
	// Began is when holds of plans before began. May be nil.
	Began heldup.Since
	// Unreadable says why the spec cannot be read, so that nothing is counted; nil if it can.
	Unreadable error
	// Stage is the one of the plan to which the present step belongs.
	Stage *rollout.Stage

	plan         *rollout.Plan
	failedUpdate string

	listed bool // problems and waits of the present steps are on the lists already

	scratch    *podpatch.Patch // for pods that may need none: empty
	calculator *inplace.Calculator
	retries    retries
	// wantedSince is since when pods are to have the update revision; zero if nothing tells.
	wantedSince time.Time
	forbids     map[string]*rollout.Reason // why pods stay under InPlaceOnly, by revision label
}

// NewPlanner returns a Planner that fills in a plan. failedUpdate is the
// condition that reports what is wrong with pods and their revisions.
func NewPlanner(plan *rollout.Plan, failedUpdate string) Planner {
	return Planner{plan: plan, Stage: &plan.Stage, failedUpdate: failedUpdate}
}

// Problem reports an error that the plan works around; nil reports nothing.
func (p *Planner) Problem(condition string, err error) {
	if err != nil && !p.listed {
		p.plan.Problems = append(p.plan.Problems, rollout.Problem{Condition: condition, Err: err})
	}
}

// UpdateProblem reports an error by the condition for updates.
func (p *Planner) UpdateProblem(err error) { p.Problem(p.failedUpdate, err) }

// PodProblem reports broken data of one pod.
func (p *Planner) PodProblem(pod *View, err error) {
	p.UpdateProblem(fmt.Errorf("pod %s: %w", pod.Name, err))
}

// RequeueAfter asks for another reconcile after d at the latest; 0 does not.
func (p *Planner) RequeueAfter(d time.Duration) {
	if d > 0 && (p.plan.RequeueAfter == 0 || d < p.plan.RequeueAfter) {
		p.plan.RequeueAfter = d
	}
}

// Due tells whether something that comes in a while is there already, and asks
// for another reconcile if it is still to come.
func (p *Planner) Due(in time.Duration, comes bool) bool {
	if comes {
		p.RequeueAfter(in)
	}
	return comes && in <= 0
}

// Wait records why a pod is not updated; nil stands for pods not created yet.
func (p *Planner) Wait(pod *corev1.Pod, reason *rollout.Reason) {
	if p.listed {
		return
	}
	wait := rollout.PodWaits(pod, reason)
	if pod != nil {
		wait.Since = p.since(pod)
	}
	p.plan.Waiting = append(p.plan.Waiting, wait)
}

// ListWaits records why pods are not changed, in order. The list is the plan's from then on.
func (p *Planner) ListWaits(waits []rollout.Wait) {
	switch {
	case p.listed:
	case len(p.plan.Waiting) == 0:
		p.plan.Waiting = waits
	default:
		p.plan.Waiting = append(p.plan.Waiting, waits...)
	}
}

// PlanOtherwise takes steps for Plan.Otherwise. Their pods wait for the first stage, and are on the list for that; their
// problems are those of its steps. So neither is listed for them.
func (p *Planner) PlanOtherwise(steps func()) {
	p.Stage, p.listed = &p.plan.Otherwise, true
	steps()
	p.Stage, p.listed = &p.plan.Stage, false
}

// InOtherwise tells whether the present step belongs to Plan.Otherwise.
func (p *Planner) InOtherwise() bool { return p.Stage == &p.plan.Otherwise }

// Finish lists what the steps have collected about a pod.
func (p *Planner) Finish(pod *View) {
	if pod.Patch == nil || pod.Deleted || !pod.Patch.Changes(pod.Pod) {
		return
	}
	if pod.ForUpdate && !pod.inService {
		p.awaitsBudget(pod)
	}
	stage := &p.plan.Stage
	if pod.Otherwise {
		stage = &p.plan.Otherwise
	}
	stage.Patch = append(stage.Patch, rollout.PodPatch{Pod: pod.Pod, Patch: pod.Patch, Kind: pod.Kind, ForUpdate: pod.ForUpdate, InService: pod.inService})
}

// Owner is the reference that says that the workload controls something.
func (p *Planner) Owner() metav1.OwnerReference {
	return *metav1.NewControllerRef(p.Workload.Object, p.Workload.Kind)
}
