// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/podplan"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planner holds what all steps of NewPlan share: what the first steps read and count, and the plan to
// which the others add. What else a step decides, it returns to the next ones.
type planner struct {
	podplan.Planner
	*Snapshot
	plan *Plan

	limits   limits
	all      []pod  // those of the snapshot, by name
	pods     []*pod // owned and active, by name
	released []*pod // owned, but the selector no longer matches
	inactive []*corev1.Pod
	tally    tally // by revision labels
	scaling  tally // as the scale step counts (CS-43)
	claims   claims
}

// limits are the strategies of the spec, in pods.
type limits struct {
	replicas, partition, maxSurge, maxUnavailable, scaleMaxUnavailable int32
}

// pod is an active pod with what every step wants to know of it.
type pod struct {
	podplan.View
	active          bool // it is among planner.pods
	labelled        bool // it has the labels that older versions did not write
	preparingDelete bool
	specified       bool // it was marked for deletion
	evicted         bool // a client awaits room to evict it, and there can be room
	getsClaims      bool // it is released, and gets claims first
}

// settling tells whether a pod serves, and only waits for minReadySeconds.
func (p *pod) settling() bool { return p.Serves() && !p.Available }

// prepared tells whether a pod is out of service for its update already.
func (p *pod) prepared() bool { return p.State == lifecyclev1alpha1.StatePreparingUpdate }

// updated tells whether a pod is at the update revision.
func (*planner) updated(pod *pod) bool { return pod.Updated }

// updatedForScale tells whether the scale step counts a pod as an updated one. (CS-43)
func (p *planner) updatedForScale(pod *pod) bool {
	return pod.Updated || p.Features.PreparingUpdateAsUpdate && pod.prepared()
}

// shared is the pod as the caches have it.
func (p *pod) shared() *corev1.Pod { return p.Pod }

// The conditions that report problems, as plans name them.
const (
	failedScale  = string(v1alpha1.CloneSetConditionFailedScale)
	failedUpdate = string(v1alpha1.CloneSetConditionFailedUpdate)
)

// workload says what the shared steps know of the CloneSet.
func (p *planner) workload() podplan.Owner {
	set, in := p.Set, podplan.InPlace{Field: "updateStrategy.type", What: "type", NoEnvFromMetadata: p.Features.NoEnvFromMetadata, Resize: p.Features.InPlaceResize}
	if p.Features.RecreateForClaims {
		in.SameAnnotation = v1alpha1.CloneSetClaimTemplateHashAnnotation
	}
	in.Only = set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType
	in.Allowed = in.Only || set.Spec.UpdateStrategy.Type == v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType
	if s := set.Spec.UpdateStrategy.InPlaceUpdateStrategy; s != nil {
		in.GraceSeconds = s.GracePeriodSeconds
	}
	return podplan.Owner{
		Object: set, Kind: v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), Selector: set.Spec.Selector, Template: &set.Spec.Template,
		CurrentRevision: set.Status.CurrentRevision, CollisionCount: set.Status.CollisionCount,
		Hooks: set.Spec.Lifecycle, InPlace: in, RevisionAnnotations: p.revisionAnnotations(),
		ShortHash: p.Features.ShortHash, TemplateHash: true, UntilBound: p.Features.NormalOnceBound,
	}
}
