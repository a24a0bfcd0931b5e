package cloneset

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Plan is what to do about a CloneSet now: data, to be looked at, compared and
// carried out. The same Snapshot gives the same Plan.
type Plan struct {
	// Revisions is what becomes of the history. Its Update is the revision of
	// the present template, its Current the one that pods come from.
	Revisions revision.Changes

	// Moves holds the numbers that the rest follows from.
	Moves Moves

	// Stages lists the pods to create, to delete and to change. Where pods are
	// created or deleted to scale, Stages.Otherwise holds the update that goes
	// on when the API server refuses all of that.
	rollout.Stages
	// CreateClaims lists claims that pods wait for which exist already.
	CreateClaims []*corev1.PersistentVolumeClaim
	// DeleteClaims lists claims to delete whose pods are gone.
	DeleteClaims []*corev1.PersistentVolumeClaim
	// HandOver lists claims that become their pod's instead of the CloneSet's, to
	// be removed together with it.
	HandOver []rollout.ClaimPatch

	// Waiting lists the pods that should move and do not, each with the
	// reason. A wait without a pod stands for pods not created yet.
	Waiting []rollout.Wait

	// PreDownload is what to do about pulling images ahead.
	PreDownload PreDownload

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.CloneSetStatus
	// PodsToDelete is spec.scaleStrategy.podsToDelete without the names of
	// pods that are gone. It is written when PrunePodsToDelete is true.
	PodsToDelete      []string
	PrunePodsToDelete bool

	// RequeueAfter is the time after which the plan may be another without
	// any event; 0 when only events can change it.
	RequeueAfter time.Duration
	// Problems are errors in the spec or in the data of single pods, each with
	// what to do about it. The rest of the plan works around them.
	Problems []Problem
}

// Problem is an error that a plan works around.
type Problem struct {
	// Condition is the condition of the CloneSet that reports it.
	Condition v1alpha1.CloneSetConditionType
	// Err says what was wanted, what was found and what to do.
	Err error
}

// NewPlan decides what to do about a CloneSet. It never fails: what is wrong
// with the CloneSet or its pods is listed in Plan.Problems; so are objects of the
// Snapshot that do not belong to the CloneSet, which are left out. A Snapshot
// without a Set or a time gives an empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.stage = &p.plan.Stage
	if err := p.checkInput(); err != nil {
		p.problem(v1alpha1.CloneSetConditionFailedUpdate, err)
		return p.plan
	}
	if err := p.read(); err != nil {
		p.problem(v1alpha1.CloneSetConditionFailedUpdate, err)
		p.planStatus()
		return p.plan
	}
	p.planRevisions()
	if p.plan.Revisions.Update == nil {
		p.planStatus()
		return p.plan
	}
	p.classify()
	if p.Set.DeletionTimestamp != nil { // the rest is for the garbage collector (CS-3)
		p.plan.Revisions.Create, p.plan.Revisions.Raise = nil, nil
		p.planStatus()
		return p.plan
	}
	p.count()
	p.planClaims()
	p.planRelease()
	p.planScale()
	p.planRefresh()
	p.planUpdate()
	p.planOtherwise()
	p.planLackingClaims()
	p.planPreDownload()
	p.finishPatches()
	p.planStatus()
	p.planPruning()
	p.planHistory()
	return p.plan
}

func (p *planner) problem(condition v1alpha1.CloneSetConditionType, err error) {
	p.plan.Problems = append(p.plan.Problems, Problem{Condition: condition, Err: err})
}

// podProblem reports broken data of one pod.
func (p *planner) podProblem(pod *pod, err error) {
	p.problem(v1alpha1.CloneSetConditionFailedUpdate, fmt.Errorf("pod %s: %w", pod.Name, err))
}

// requeueAfter asks for another pass after d at the latest.
func (p *planner) requeueAfter(d time.Duration) {
	if d > 0 && (p.plan.RequeueAfter == 0 || d < p.plan.RequeueAfter) {
		p.plan.RequeueAfter = d
	}
}

// wait records why a pod does not move; nil stands for a pod not created yet.
func (p *planner) wait(pod *corev1.Pod, reason *rollout.Reason) {
	p.plan.Waiting = append(p.plan.Waiting, rollout.Wait{Pod: pod, Reason: reason})
}
