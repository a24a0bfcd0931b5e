// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// How long a pod whose deletion or update was allowed counts as unavailable although nothing has
// happened yet. (PUB-17)
const (
	DisruptedFor   = 20 * time.Second
	UnavailableFor = 10 * time.Second
)

// Result is what Compute finds out.
type Result struct {
	// Status is the status that the budget should have.
	Status v1alpha1.PodUnavailableBudgetStatus
	// NotDeleted are pods whose deletion was allowed, and which were not deleted in time. (PUB-17)
	NotDeleted []*corev1.Pod
	// Unavailable are the pods that do not count as available, and why, in the order in which
	// they were given.
	Unavailable []Unavailable
	// RequeueAfter is the time after which the status is another without any event;
	// 0 when only events can change it.
	RequeueAfter time.Duration
}

// Unavailable is a pod that does not count as available.
type Unavailable struct {
	// Pod is the pod, shared with the caches; never nil.
	Pod *corev1.Pod
	// Reason says in words why it does not count.
	Reason string
}

// Compute computes the status of a budget from its pods. The error says which field of
// the budget cannot be read. (PUB-6 to PUB-13, PUB-16, PUB-17)
func Compute(b *v1alpha1.PodUnavailableBudget, s Selection, now time.Time) (*Result, error) {
	desired, err := Desired(b, s.Total)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Unprotected:
		desired = 0
	case s.undecided(b):
		desired = max(desired, int32(len(s.Pods))) // none may go (PUB-23)
	}
	r := &Result{Status: v1alpha1.PodUnavailableBudgetStatus{
		ObservedGeneration: b.Generation, DesiredAvailable: desired, TotalReplicas: s.Total, Conditions: conditions(b, s, now),
	}}
	r.keepRecords(b, s.Pods, now)
	var unmarked int32
	for _, pod := range s.seen() {
		reason := r.unavailable(pod, now)
		if reason == "" && pod.Related != b.Name {
			reason = "it is still to be told of its budget"
		}
		switch {
		case reason != "":
			r.Unavailable = append(r.Unavailable, Unavailable{pod.Pod, reason})
			continue
		case !pod.marked:
			unmarked++
		}
		r.Status.CurrentAvailable++
	}
	r.Status.UnavailableAllowed = allowed(unmarked, r.Status.CurrentAvailable, s.Total, desired)
	return r, nil
}

// allowed is how many pods may be disrupted that are not marked for deletion. Those that are marked
// stand in for pods that are missing, and for no others. Otherwise the pods that replace them would
// allow others to be disrupted as well. (PUB-13)
func allowed(unmarked, available, total, desired int32) int32 {
	return max(min(available, max(unmarked, total))-desired, 0)
}

// unavailable says why a pod is not available; empty if it is. (PUB-9, PUB-45)
func (r *Result) unavailable(pod *Pod, now time.Time) string {
	switch _, disrupted := r.Status.DisruptedPods[pod.Name]; {
	case disrupted:
		return "it is about to be deleted"
	case !pod.ready:
		return "it is not ready"
	}
	if _, updated := r.Status.UnavailablePods[pod.Name]; updated {
		return "it is about to be updated"
	}
	if pod.waiting != "" || !pod.restarted {
		return pod.waiting
	}
	waiting, left := starting(pod.Pod, now)
	if left > 0 {
		r.requeue(left)
	}
	return waiting
}

// keepRecords keeps the records of pods that are still there, until their time is over.
// (PUB-16, PUB-17)
func (r *Result) keepRecords(b *v1alpha1.PodUnavailableBudget, pods []*corev1.Pod, now time.Time) {
	if len(b.Status.DisruptedPods)+len(b.Status.UnavailablePods)+len(b.Status.BookedSince) == 0 {
		return
	}
	for _, pod := range pods {
		at, kind := recordOf(&b.Status, pod)
		if kind == "" {
			if first, waits := waitsSince(&b.Status, pod); waits {
				r.wait(pod, first, now)
			}
			continue
		}
		if at.After(now) { // by another clock
			at = metav1.NewTime(now)
		}
		left := at.Add(lifetime[kind]).Sub(now)
		if left < 0 {
			if kind == disrupted {
				r.NotDeleted = append(r.NotDeleted, pod)
			}
			if first, _ := since(&b.Status, pod); now.Sub(first) > renewedFor {
				r.wait(pod, metav1.NewTime(now), now)
			}
			continue
		}
		record(&r.Status, pod, kind, at)
		keepSince(&r.Status, &b.Status, pod, now)
		r.requeue(left)
	}
}

// requeue has the status computed again when something that is kept has had its last moment.
func (r *Result) requeue(left time.Duration) {
	if left++; r.RequeueAfter == 0 || left < r.RequeueAfter {
		r.RequeueAfter = left
	}
}

// wait keeps a pod that held its place for long waiting for others, until that is over. (PUB-14.8)
func (r *Result) wait(pod *corev1.Pod, first metav1.Time, now time.Time) {
	left := first.Add(DisruptedFor).Sub(now)
	if left < 0 {
		return
	}
	if r.Status.BookedSince == nil {
		r.Status.BookedSince = map[string]metav1.Time{}
	}
	if r.Status.PodUIDs == nil {
		r.Status.PodUIDs = map[string]types.UID{}
	}
	r.Status.BookedSince[pod.Name], r.Status.PodUIDs[pod.Name] = first, pod.UID
	r.requeue(left)
}

// recordKind is why a pod is recorded.
type recordKind string

const (
	disrupted   recordKind = "disruptedPods"
	unavailable recordKind = "unavailablePods"
)

// lifetime is how long records are kept. (PUB-17)
var lifetime = map[recordKind]time.Duration{disrupted: DisruptedFor, unavailable: UnavailableFor}

// recordOf returns when and why a pod was recorded; why is empty if it was not.
// (PUB-16)
func recordOf(s *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod) (metav1.Time, recordKind) {
	if uid := s.PodUIDs[pod.Name]; uid != "" && uid != pod.UID {
		return metav1.Time{}, ""
	}
	if at, found := s.DisruptedPods[pod.Name]; found {
		return at, disrupted
	}
	if at, found := s.UnavailablePods[pod.Name]; found {
		return at, unavailable
	}
	return metav1.Time{}, ""
}

// record records a pod.
func record(s *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod, kind recordKind, at metav1.Time) {
	set := &s.DisruptedPods
	if kind == unavailable {
		set = &s.UnavailablePods
	}
	if *set == nil {
		*set = map[string]metav1.Time{}
	}
	if s.PodUIDs == nil {
		s.PodUIDs = map[string]types.UID{}
	}
	delete(s.DisruptedPods, pod.Name)
	delete(s.UnavailablePods, pod.Name)
	delete(s.BookedSince, pod.Name)
	(*set)[pod.Name], s.PodUIDs[pod.Name] = at, pod.UID
}

// renewedFor is for how long a pod that is asked about again and again stays recorded. (PUB-14.8)
const renewedFor = time.Minute

// waitsSince is since when a pod waits that held its place for long, so that others come first; false if it does not. (PUB-14.8)
func waitsSince(s *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod) (metav1.Time, bool) {
	first, found := s.BookedSince[pod.Name]
	_, kind := recordOf(s, pod)
	return first, found && kind == "" && s.PodUIDs[pod.Name] == pod.UID
}

// since is when a pod that is recorded, or waits, was recorded first; false if neither holds. One of its name does not count. (PUB-16)
func since(s *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod) (time.Time, bool) {
	if first, waits := waitsSince(s, pod); waits {
		return first.Time, true
	}
	at, kind := recordOf(s, pod)
	if first, found := s.BookedSince[pod.Name]; found && kind != "" {
		at = first
	}
	return at.Time, kind != ""
}

// keepSince keeps of a pod that is recorded since when it is, if that is not the time of its record.
func keepSince(s, before *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod, now time.Time) {
	first, known := since(before, pod)
	if at, _ := recordOf(s, pod); !known || first.Unix() == at.Unix() || first.After(now) {
		return
	}
	if s.BookedSince == nil {
		s.BookedSince = map[string]metav1.Time{}
	}
	s.BookedSince[pod.Name] = metav1.NewTime(first)
}

// Equal tells whether two statuses say the same: times by the second, as they are
// stored, and of conditions not since when.
func Equal(a, b *v1alpha1.PodUnavailableBudgetStatus) bool {
	sameTime := func(a, b metav1.Time) bool { return a.Unix() == b.Unix() }
	return a.ObservedGeneration == b.ObservedGeneration && a.UnavailableAllowed == b.UnavailableAllowed &&
		a.CurrentAvailable == b.CurrentAvailable && a.DesiredAvailable == b.DesiredAvailable && a.TotalReplicas == b.TotalReplicas &&
		maps.EqualFunc(a.DisruptedPods, b.DisruptedPods, sameTime) && maps.EqualFunc(a.UnavailablePods, b.UnavailablePods, sameTime) &&
		maps.EqualFunc(a.BookedSince, b.BookedSince, sameTime) && maps.Equal(a.PodUIDs, b.PodUIDs) &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(a, b metav1.Condition) bool {
			a.LastTransitionTime = b.LastTransitionTime
			return a == b
		})
}
