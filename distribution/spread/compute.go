// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle"
)

// State is what Compute depends on. It is not changed.
type State struct {
	// Spread is the WorkloadSpread. Required.
	Spread *v1alpha1.WorkloadSpread
	// Workload is the one that it names; nil if there is none.
	Workload *Workload
	// Pods are the pods of the workload, those that have ended and that are being deleted among
	// them.
	Pods []*corev1.Pod
	// Node returns the node of a name, nil if it is not known. Nil: no pods that were there before
	// get a subset.
	Node func(name string) *corev1.Node
	// Moved is when pods were deleted that an earlier Compute has named, the oldest first. (WS-36)
	Moved []time.Time
	// Now is the present time.
	Now time.Time
}

// DeletionReason is why a pod goes, so that its workload creates it in another subset.
type DeletionReason string

const (
	// Unschedulable pods have no node after rescheduleCriticalSeconds. (WS-17)
	Unschedulable DeletionReason = "it could not be scheduled"
	// Misplaced pods are beyond the share of their subset while another one misses a pod. (WS-19)
	Misplaced DeletionReason = "its subset has its share, and another one misses a pod"
)

// Deletion is a pod to be deleted.
type Deletion struct {
	// Pod is the pod, shared with the caches, and Subset the name of the subset that it leaves.
	Pod    *corev1.Pod
	Subset string
	// Why is the reason of the deletion.
	Why DeletionReason
	// After are the names of the pods by which the subset is beyond its share once it has adopted them. As long as it
	// has not, the pod is not to be deleted.
	After []string
}

// Stay is a pod that stays in its subset, though no node takes it.
type Stay struct {
	// Pod is the pod, shared with the caches, and Subset the name of its subset.
	Pod    *corev1.Pod
	Subset string
}

// Computed is what Compute finds out.
type Computed struct {
	// Status is the status that the WorkloadSpread should have.
	Status v1alpha1.WorkloadSpreadStatus
	// Adopt are pods that were there before, and get a subset.
	Adopt []Adoption
	// Costs are the costs of deleting pods that are to be written.
	Costs []Cost
	// Deletions are pods to be deleted once the status is written, in this order, and MayDelete is how many of them may be now.
	// One that cannot be deleted does not count. (WS-36)
	Deletions []Deletion
	MayDelete int
	// Staying are pods of Jobs that could not be scheduled in time, and stay since too many have failed. (WS-37)
	Staying []Stay
	// Unassigned are the pods that belong to no subset.
	Unassigned []*corev1.Pod
	// Recovered are the names of subsets that pods are sent to again.
	Recovered []string
	// RequeueAfter is the time after which all this may be another without any event; 0 when
	// only events can change it.
	RequeueAfter time.Duration
}

// computer collects what Compute finds out.
type computer struct {
	State
	Computed
	groups  [][]*corev1.Pod // by subset
	adopted map[*corev1.Pod]bool
	seen    map[string]bool // the keys of reservations whose pods are there
	// failures are the pods of a Job that it will count as failed, those that are to be deleted now among them.
	failures int32
}

// Compute computes the status of a WorkloadSpread from the pods of its workload, and what to do
// about them. (WS-12 to WS-20)
func Compute(s State) *Computed {
	c := &computer{State: s}
	if s.Spread == nil {
		return &c.Computed
	}
	c.failures = s.failing()
	c.Pods = selectedBy(s.Spread, s.Pods)
	c.seen = Seen(Creating(s.Spread), c.Pods)
	if s.Workload.Wants() == 0 {
		c.Pods = nil
	}
	c.group()
	c.Costs = c.costs()
	c.status()
	c.misplaced()
	c.bound()
	return &c.Computed
}

// bound says how many of the pods that are to be deleted may be at once. (WS-36)
func (c *computer) bound() {
	if len(c.Deletions) == 0 {
		return
	}
	var again time.Duration
	c.MayDelete, again = podplan.Few(len(c.Deletions), min(int(c.Workload.Wants()), len(active(c.Pods))), c.Moved, c.Now)
	if again > 0 {
		c.again(again)
	}
}

// again asks to look again after a time.
func (c *computer) again(in time.Duration) {
	if c.RequeueAfter == 0 || in < c.RequeueAfter {
		c.RequeueAfter = in
	}
}

// nodeLook is when a node that is not known is looked for again. (WS-12)
const nodeLook = 10 * time.Second

// group sorts pods into subsets, and adopts those that are in none. (WS-12 to WS-14)
func (c *computer) group() {
	subsets := c.Spread.Spec.Subsets
	m := newMembers(c.Spread)
	c.groups, c.adopted = make([][]*corev1.Pod, len(subsets)), map[*corev1.Pod]bool{}
	var loose []*corev1.Pod
	for _, pod := range c.Pods {
		if pod == nil {
			continue
		}
		switch i := m.subset(pod); {
		case i >= 0:
			c.groups[i] = append(c.groups[i], pod)
		case i == elsewhere && podstate.Active(pod) && pod.Spec.NodeName != "" && c.Node != nil && c.Spread.DeletionTimestamp == nil:
			loose = append(loose, pod)
		default:
			c.Unassigned = append(c.Unassigned, pod)
		}
	}
	taken := make([]int, len(subsets)) // active pods, by subset
	for i := range subsets {
		taken[i] = len(active(c.groups[i]))
	}
	for _, pod := range loose {
		best := elsewhere
		if node := c.Node(pod.Spec.NodeName); node == nil {
			c.again(nodeLook)
		} else {
			best = fitting(c.Spread, pod, node, func(i int) bool {
				limit := limit(&subsets[i], c.Workload.Wants())
				return limit == Unlimited || taken[i] < int(limit)
			})
		}
		if best == elsewhere {
			c.Unassigned = append(c.Unassigned, pod)
			continue
		}
		c.groups[best] = append(c.groups[best], pod)
		taken[best]++ // it is active
		c.Adopt = append(c.Adopt, adoption(c.Spread, pod, &subsets[best]))
		c.adopted[pod] = true
	}
}

// status computes the status. (WS-20)
func (c *computer) status() {
	c.Status.ObservedGeneration = c.Spread.Generation
	for i := range c.Spread.Spec.Subsets {
		subset := &c.Spread.Spec.Subsets[i]
		now := v1alpha1.WorkloadSpreadSubsetStatus{Name: subset.Name, Replicas: int32(len(active(c.groups[i]))), MissingReplicas: Unlimited}
		if limit := limit(subset, c.Workload.Wants()); limit != Unlimited {
			now.MissingReplicas = max(limit-now.Replicas, 0)
		}
		before := statusOf(&c.Spread.Status, subset.Name)
		c.creating(&now, before)
		c.judgeScheduling(i, &now, before)
		c.judgePatch(subset, &now, before)
		c.Status.SubsetStatuses = append(c.Status.SubsetStatuses, now)
	}
}

// A pod counts as misplaced from settleFor after its creation: the caller that assigns the pods of its workload
// may know more by then. And until misplacedFor: later it is in its subset because the spec has
// changed. (WS-19)
const (
	settleFor    = time.Second
	misplacedFor = time.Minute
)

// misplaced plans to delete pods of the latest revision that have not started yet and are in a subset
// beyond its share. It deletes as many as other subsets lack, beside pods that are still to be created.
// (WS-19)
func (c *computer) misplaced() {
	if kind, _ := KindOf(c.Spread); !heedsCosts(kind) || c.Spread.DeletionTimestamp != nil || len(c.Deletions) > 0 {
		return
	}
	tallies, toCome := c.tallies()
	if toCome < 0 {
		return // some go anyway
	}
	left := -toCome
	for i := range tallies {
		left += max(tallies[i].share-tallies[i].all, 0)
	}
	for i := len(tallies) - 1; i >= 0; i-- {
		after := c.adoptedBy(i)
		surplus := min(tallies[i].all-tallies[i].share, left)
		if surplus <= 0 {
			continue
		}
		left -= surplus
		for _, pod := range c.dispensable(c.groups[i]) {
			age := c.Now.Sub(pod.CreationTimestamp.Time)
			if surplus == 0 || !c.counts(pod) || pod.Status.Phase != corev1.PodPending || lifecycle.Unschedulable(pod) || c.adopted[pod] || age > misplacedFor {
				continue
			}
			surplus--
			if age < settleFor {
				c.again(settleFor - age)
				continue
			}
			c.Deletions = append(c.Deletions, Deletion{Pod: pod, Subset: c.Spread.Spec.Subsets[i].Name, Why: Misplaced, After: after})
		}
	}
}

// adoptedBy are the names of the pods that a subset adopts now.
func (c *computer) adoptedBy(subset int) (names []string) {
	for _, pod := range c.groups[subset] {
		if c.adopted[pod] {
			names = append(names, pod.Name)
		}
	}
	return names
}

// counts tells whether a pod has a part of what the workload wants in the end.
func (c *computer) counts(pod *corev1.Pod) bool {
	return podstate.Active(pod) && c.Workload.isOfLatest(pod)
}

// tallies counts the pods of the latest revision in every subset, and how many of them are still to
// be created. It is less than 0 if there are more than the workload wants. (WS-19)
func (c *computer) tallies() (tallies []tally, toCome int32) {
	tallies, toCome = make([]tally, len(c.groups)), c.Workload.Wants()
	for _, pod := range c.Unassigned {
		toCome -= int32(yes(c.counts(pod)))
	}
	assigned := toCome
	for i := range tallies {
		subset := &c.Spread.Spec.Subsets[i]
		now := condition(statusOf(&c.Status, subset.Name))
		tallies[i] = tally{limit: limit(subset, c.Workload.Wants()), open: now == nil || now.Status != corev1.ConditionFalse}
		for _, pod := range c.groups[i] {
			tallies[i].all += int32(yes(c.counts(pod)))
		}
		toCome -= tallies[i].all
	}
	share(tallies, max(assigned, 0))
	return tallies, toCome
}

// Equal tells whether two statuses say the same: times by the second, as they are stored.
func Equal(a, b *v1alpha1.WorkloadSpreadStatus) bool {
	return a.ObservedGeneration == b.ObservedGeneration && len(a.VersionedSubsetStatuses) == len(b.VersionedSubsetStatuses) && slices.EqualFunc(a.SubsetStatuses, b.SubsetStatuses, func(a, b v1alpha1.WorkloadSpreadSubsetStatus) bool {
		sameCondition := func(a, b v1alpha1.WorkloadSpreadSubsetCondition) bool {
			sameTime := a.LastTransitionTime.Unix() == b.LastTransitionTime.Unix()
			a.LastTransitionTime = b.LastTransitionTime
			return sameTime && a == b
		}
		return a.Name == b.Name && a.Replicas == b.Replicas && a.MissingReplicas == b.MissingReplicas &&
			slices.EqualFunc(a.Conditions, b.Conditions, sameCondition) &&
			equality.Semantic.DeepEqual(a.CreatingPods, b.CreatingPods) && equality.Semantic.DeepEqual(a.DeletingPods, b.DeletingPods)
	})
}
