// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// UserGracePeriod is the grace period, in seconds, with which users delete pods that a budget protects: by that they are known.
const UserGracePeriod = 7

// disrupted tells whether others than its workload have evicted or deleted a pod, or may have done so unseen.
func disrupted(c Change, gap bool) bool {
	before, was := c.Old.(*corev1.Pod)
	if !was || !deleted(c.Old, c.New) {
		return false
	}
	if rescheduled(before) {
		return true
	}
	after, is := c.New.(*corev1.Pod)
	if !is {
		unseen := gap || before.Spec.NodeName == "" // which goes at once
		return unseen && before.Annotations[availabilityv1alpha1.RelatedPubAnnotation] != "" || podstate.Evicted(before)
	}
	return podstate.Evicted(after) || after.DeletionGracePeriodSeconds != nil && *after.DeletionGracePeriodSeconds == UserGracePeriod
}

// podBudget is a budget of a CloneSet that no user scales or updates. Nothing takes pods of the CloneSet out of service but
// what the budget is asked about: evictions and deletions by any client. The budget has a number as maxUnavailable, and is not
// changed.
type podBudget struct {
	spec      availabilityv1alpha1.PodUnavailableBudgetSpec
	available int // pods after the last change
}

// takeBudget takes note of a version of a budget.
func (j *Judge) takeBudget(object *availabilityv1alpha1.PodUnavailableBudget) {
	if j.budgets[object.UID] == nil {
		j.budgets[object.UID] = &podBudget{}
	}
	j.budgets[object.UID].spec = object.Spec
}

// judgeBudgets: a pod that is evicted or deleted leaves as many in service as the budget wants, or as there were if these
// are less. That holds of every state, also after a gap.
func (j *Judge) judgeBudgets(changes []Change) (wrong []invariants.Violation) {
	for _, b := range j.budgets {
		uid, replicas := j.targetOf(b)
		if uid == "" {
			continue
		}
		v := &verdict{about: "budget of " + b.spec.TargetReference.Name}
		pods, was := j.podsOf(uid), b.available
		b.available = 0
		for _, pod := range pods {
			if podstate.InService(pod) {
				b.available++
			}
		}
		for _, c := range changes {
			before, is := c.Old.(*corev1.Pod)
			if owner, of := j.ownerOf(c.latest()); !is || owner == nil || of != uid || !deleted(c.Old, c.New) || !podstate.InService(before) {
				continue
			}
			desired := int(replicas) - b.spec.MaxUnavailable.IntValue()
			v.expect(b.available >= min(desired, was), invariants.Availability,
				"%s, which names the budget %q, is deleted, and %d are left, %d desired: %s", podstate.Describe(before, c.New == nil),
				before.Annotations[availabilityv1alpha1.RelatedPubAnnotation], b.available, desired, describe(pods))
		}
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}

// targetOf returns the workload of a budget, "" while there is none, and how many pods it wants.
func (j *Judge) targetOf(b *podBudget) (types.UID, int32) {
	for uid, s := range j.sets {
		if set, is := s.counting[len(s.counting)-1].(*v1alpha1.CloneSet); is && b.spec.TargetReference != nil && set.Name == b.spec.TargetReference.Name {
			return uid, *set.Spec.Replicas
		}
	}
	return "", 0
}

// knownPods are the pods of a workload with a budget as the author of a write may have seen them. Users delete pods meanwhile,
// which the author hears of later.
func (j *Judge) knownPods(uid types.UID) []map[string]*corev1.Pod {
	for _, b := range j.budgets {
		if target, _ := j.targetOf(b); target == uid {
			states := j.sets[uid].states
			return slices.Clone(states[max(0, len(states)-lag):])
		}
	}
	return nil
}
