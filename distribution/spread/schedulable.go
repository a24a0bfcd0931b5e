// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/lifecycle"
)

// minRecover is the shortest time that a subset takes no new pods after one could not be scheduled. (WS-18)
const minRecover = 300 * time.Second

// recoverAfter is how long a subset takes no new pods after one could not be scheduled there. That is until all subsets
// behind it have been tried as well, and five seconds more. A subset that took pods again sooner would get back those that
// it has passed on, and the last subset none. (WS-18)
func recoverAfter(ws *v1alpha1.WorkloadSpread) time.Duration {
	return max(minRecover, time.Duration(len(ws.Spec.Subsets)-1)*rescheduleAfter(ws)+5*time.Second)
}

// rescheduleAfter is after which time a pod that cannot be scheduled goes elsewhere; 0 for
// never. (WS-17)
func rescheduleAfter(ws *v1alpha1.WorkloadSpread) time.Duration {
	s := &ws.Spec.ScheduleStrategy
	if s.Type != v1alpha1.AdaptiveWorkloadSpreadScheduleStrategyType || s.Adaptive == nil || s.Adaptive.RescheduleCriticalSeconds == nil {
		return 0
	}
	return time.Duration(max(*s.Adaptive.RescheduleCriticalSeconds, 0)) * time.Second
}

// condition is the condition Schedulable of a subset; nil if it has none, or is nil.
func condition(status *v1alpha1.WorkloadSpreadSubsetStatus) *v1alpha1.WorkloadSpreadSubsetCondition {
	return conditionOf(status, v1alpha1.SubsetSchedulable)
}

func conditionOf(status *v1alpha1.WorkloadSpreadSubsetStatus, t v1alpha1.WorkloadSpreadSubsetConditionType) *v1alpha1.WorkloadSpreadSubsetCondition {
	if status == nil {
		return nil
	}
	for i := range status.Conditions {
		if status.Conditions[i].Type == t {
			return &status.Conditions[i]
		}
	}
	return nil
}

// judgeScheduling sets the condition Schedulable of a subset by its pods, and plans to delete those
// that could not be scheduled in time. (WS-17, WS-18)
func (c *computer) judgeScheduling(subset int, status *v1alpha1.WorkloadSpreadSubsetStatus, before *v1alpha1.WorkloadSpreadSubsetStatus) {
	after := rescheduleAfter(c.Spread)
	if before != nil {
		for _, other := range before.Conditions {
			if other.Type != v1alpha1.SubsetSchedulable && other.Type != v1alpha1.SubsetPatchApplies {
				status.Conditions = append(status.Conditions, other)
			}
		}
	}
	if after == 0 {
		return
	}
	is := corev1.ConditionTrue
	if subset < len(c.Spread.Spec.Subsets)-1 {
		for _, pod := range c.groups[subset] {
			if !lifecycle.Unschedulable(pod) {
				continue
			}
			if left := pod.CreationTimestamp.Add(after).Sub(c.Now); left >= 0 {
				c.again(left + 1)
				continue
			}
			is = corev1.ConditionFalse
			if ofJob(pod) && !c.mayFail() {
				c.Staying = append(c.Staying, Stay{Pod: pod, Subset: status.Name})
				continue
			}
			c.Deletions = append(c.Deletions, Deletion{Pod: pod, Subset: status.Name, Why: Unschedulable})
		}
		if is == corev1.ConditionTrue && c.stillClosed(before) {
			is = corev1.ConditionFalse
		}
	}
	old := condition(before)
	now := v1alpha1.WorkloadSpreadSubsetCondition{Type: v1alpha1.SubsetSchedulable, Status: is, LastTransitionTime: metav1.NewTime(c.Now)}
	if old != nil && old.Status == is {
		now.LastTransitionTime = old.LastTransitionTime
	}
	if old != nil && old.Status == corev1.ConditionFalse && is == corev1.ConditionTrue {
		c.Recovered = append(c.Recovered, status.Name)
	}
	status.Conditions = append(status.Conditions, now)
}

// ofJob tells whether the controller of a pod is a Job of Kubernetes. It counts a pod that is deleted as one that has failed, whatever
// podFailurePolicy and podReplacementPolicy say, and fails for good beyond its backoffLimit. (WS-37)
func ofJob(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	return ref != nil && schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == Jobs
}

// failing counts the pods of a Job that it will count as failed, and has not yet. Those that were deleted just now count, seen or not.
func (s *State) failing() (n int32) {
	if s.Workload.kind() != Jobs {
		return 0
	}
	n = int32(len(podplan.Recent(s.Moved, s.Now)))
	for _, pod := range s.Pods {
		if (pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed) && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
			n++
		}
	}
	return n
}

// mayFail tells whether one more pod of the Job may be deleted, and takes it for deleted then. If some were deleted just now, it is asked
// again once they do not count any more: the Job may have counted them as well. (WS-37)
func (c *computer) mayFail() bool {
	w := c.Workload
	if w.kind() != Jobs || w.MayFail == nil || c.failures >= *w.MayFail {
		if recent := podplan.Recent(c.Moved, c.Now); len(recent) > 0 {
			c.again(recent[len(recent)-1].Add(podplan.FewWithin).Sub(c.Now))
		}
		return false
	}
	c.failures++
	return true
}

// stillClosed tells whether a subset stays without new pods although none of its pods has failed to
// be scheduled. A time in the future is by another clock, and counts from now. (WS-18)
func (c *computer) stillClosed(before *v1alpha1.WorkloadSpreadSubsetStatus) bool {
	old := condition(before)
	if old == nil || old.Status != corev1.ConditionFalse {
		return false
	}
	after := recoverAfter(c.Spread)
	left := min(old.LastTransitionTime.Add(after).Sub(c.Now), after)
	if left < 0 {
		return false
	}
	c.again(left + 1)
	return true
}
