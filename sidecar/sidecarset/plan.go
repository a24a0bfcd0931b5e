// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Plan is what to do about a SidecarSet now. The same Snapshot gives the same Plan.
//
// Of rollout.Plan it has Revisions (Current is Update), Patch (resets of hot containers
// come first, then updates in their order), Waiting, RequeueAfter and Problems. Each patch
// is refused by the API server if its pod has changed since: it holds records that
// others write too.
type Plan struct {
	rollout.Plan

	// CustomVersion is the value that the label SidecarSetCustomVersionLabel of
	// Revisions.Update gets; empty if that stands, or the revision is created with it.
	CustomVersion string

	// Rollout holds the numbers that the update follows from.
	Rollout Rollout
	// NotInjected lists the pods that were created while the SidecarSet selected them, and do not
	// have its containers. It is by namespace and name, each with the reason.
	NotInjected []rollout.Wait
	// NotUpgradable lists the pods that cannot be updated in place, by namespace and name, each
	// with the reason. First come those of which no container can be, which are not among those
	// that wait, and then those with native sidecars of another image.
	NotUpgradable []rollout.Wait

	// NotMerged lists the pods that are updated and keep an annotation that cannot be merged,
	// each with the reason. (SCI-5)
	NotMerged []rollout.Wait

	// Status is the status to write, or nil when the present one stands.
	Status *v1alpha1.SidecarSetStatus
	// Events are to be recorded about the SidecarSet once Status is written.
	Events []Event
}

// Rollout is what the update of a SidecarSet follows from, in pods.
type Rollout struct {
	// Matched, Updated, Ready and UpdatedReady are as in the status.
	Matched, Updated, Ready, UpdatedReady int32
	// Unavailable is how many pods are out of service because of updates. They are updated, or were
	// before, and are not ready or not consistent, whether they are to be updated now or not. While
	// their workload updates them, only those count of which a sidecar does not serve.
	Unavailable int32
	// Candidates is how many pods could be updated.
	Candidates int32
	// Partition is how many of the candidates stay, and MaxUnavailable how many pods may be
	// unavailable, as the spec says.
	Partition, MaxUnavailable int32
}

// Event is something to be told about the SidecarSet.
type Event struct {
	// Type is that of corev1: Normal or Warning.
	Type string
	// Reason is a word, and Message says it in full.
	Reason, Message string
}

// The reasons of events about a SidecarSet.
const (
	// EventNotInjected: pods were created, and the SidecarSet was not injected.
	EventNotInjected = "NotInjectedPods"
	// eventNotUpgradable: pods cannot be updated in place.
	eventNotUpgradable = "NotUpgradablePods"
	// eventNotMerged: MergePatchJson could not merge an annotation, and the value of the pod stays. It is recorded by an
	// Injector, and about the pod when a Reconciler updates that. (SCI-5)
	eventNotMerged = "AnnotationNotMerged"
)

// PatchReset is the kind of patches that empty hot containers which do not work any more.
// Those that begin an update are of the kind rollout.PatchUpdateInPlace.
const PatchReset rollout.PatchKind = "ResetContainer"

// These rules hold back the update of a pod, beside those of rollout: RulePaused,
// RulePartition, RuleMaxUnavailable, RuleRefused, RuleRefreshFirst and
// RuleInPlaceUpdating. With RuleRefreshFirst the reset of a hot container is written
// first. With RuleInPlaceUpdating a container has not taken the image of the update
// before.
const (
	// ruleNotUpdate: the type of the updateStrategy is NotUpdate.
	ruleNotUpdate rollout.Rule = "NotUpdate"
	// ruleNotSelected: the selector of the updateStrategy does not match the pod.
	ruleNotSelected rollout.Rule = "NotSelected"
	// ruleHotUpgrade: the hot upgrade before is not over. The container that does not work
	// any more has not taken the empty image.
	ruleHotUpgrade rollout.Rule = "HotUpgrade"
	// ruleWorkloadUpdating: the workload of the pod updates it in place.
	ruleWorkloadUpdating rollout.Rule = "WorkloadUpdating"
	// ruleNotUpgradable: something beside images has changed.
	ruleNotUpgradable rollout.Rule = "NotUpgradable"
	// ruleNotInjected: the pod was created without the sidecars.
	ruleNotInjected rollout.Rule = "NotInjected"
	// ruleIncomplete: the pod lacks some of what the SidecarSet injects.
	ruleIncomplete rollout.Rule = "Incomplete"
	// ruleUnreadable: an annotation of the pod that the update needs cannot be read, or the strategy.
	ruleUnreadable rollout.Rule = "Unreadable"
)

// kind is the kind of SidecarSets.
const kind = "SidecarSet"

// NewPlan decides what to do about a SidecarSet. It never fails: what is wrong
// with the SidecarSet or its pods is listed in Plan.Problems. A Snapshot without a Set
// or a time gives an empty plan with that problem.
func NewPlan(s *Snapshot) *Plan {
	p := &planner{Snapshot: s, plan: &Plan{}}
	p.Planner = podplan.NewPlanner(&p.plan.Plan, failedUpdate)
	if err := p.checkInput(); err != nil {
		p.UpdateProblem(err)
		return p.plan
	}
	if p.Set.DeletionTimestamp != nil { // its pods stay as they are (SCS-24)
		return p.plan
	}
	if err := p.read(); err != nil {
		p.UpdateProblem(err)
		p.planStatus()
		return p.plan
	}
	if !p.planRevisions() {
		p.planStatus()
		return p.plan
	}
	p.classify()
	p.count()
	updates := p.planUpdate()
	p.planUpgradable()
	p.finishPatches(updates)
	p.PlanRefusals()
	p.reportPods()
	p.reportPolicy()
	p.planHeld()
	p.planStatus()
	p.planHistory()
	return p.plan
}
