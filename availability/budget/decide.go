// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// maxRecords is how many pods may be recorded at a time. (PUB-14)
const maxRecords = 2000

// Decision is the answer to an operation on a pod.
type Decision struct {
	// Allowed tells whether the operation may go on. False, the zero value, refuses it.
	Allowed bool
	// Reason says why, in words.
	Reason string
	// Status, if it is not nil, has to be written before the operation goes on, or the answer is
	// void. The write is on the condition that the budget is as it was read.
	Status *v1alpha1.PodUnavailableBudgetStatus
}

// The reasons of denials, as OpenKruise words them; the last ones are ours.
const (
	ReasonNothingAllowed = "pub unavailable allowed is negative"
	ReasonTooManyRecords = "DisruptedPods and UnavailablePods map too big - too many unavailable not confirmed by PUB controller"
	ReasonNoStatusYet    = "the budget has no status yet; try again"
	ReasonOthersFirst    = "the pod was allowed to go for a minute and has not gone; others come first; try again"
	ReasonChanged        = "the budget has changed, and its pods are still to be counted; try again"
)

// Request is what a client is about to do.
type Request struct {
	// Operation is what is done to the pod: an update or a resize of its spec, a deletion or an eviction. Required.
	Operation v1alpha1.PubOperation
	// ResizesAlone says that a budget protects from a resize only if it lists PubResizeOperation. Default false: one that
	// protects from updates does so too. (PUB-19)
	ResizesAlone bool
	// InconsistentMayGo lets a pod go whose containers do not run yet what its spec says, as one that is not ready. Default
	// false: it is protected. (PUB-14.3)
	InconsistentMayGo bool
	// DryRun tells that it will not be done: nothing is to be written for it. (PUB-15)
	DryRun bool
	// Now is the time of the request.
	Now time.Time
}

// Decide answers a request about a pod: as it was before, if the request changes it. The
// budget is the one that the pod names, or may be told of (see MayMatch), nil if there is none. (PUB-14 to PUB-16)
func Decide(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod, request Request) Decision {
	d := decide(b, pod, request)
	if request.DryRun {
		d.Status = nil
	}
	return d
}

func decide(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod, request Request) Decision {
	operation, now := request.Operation, request.Now
	switch reason := unprotected(b, pod, request); {
	case (reason == notReady || reason == inconsistent || reason == untold) && operation == v1alpha1.PubEvictOperation && b != nil:
		return Decision{Allowed: true, Reason: reason, Status: keepOut(b, pod, now)}
	case reason != "":
		return Decision{Allowed: true, Reason: reason}
	}
	s := &b.Status
	switch {
	case s.ObservedGeneration == 0:
		return Decision{Reason: ReasonNoStatusYet}
	case s.ObservedGeneration < b.Generation:
		return Decision{Reason: ReasonChanged}
	case s.DesiredAvailable == 0:
		return Decision{Allowed: true, Reason: "no pod has to be available"}
	}
	if _, kind := recordOf(s, pod); kind != "" {
		if first, _ := since(s, pod); now.Sub(first) <= renewedFor {
			return Decision{Allowed: true, Reason: fmt.Sprintf("the pod is in %s already", kind), Status: renew(s, pod, kind, now)}
		}
	}
	if first, waits := waitsSince(s, pod); waits && now.Sub(first.Time) <= DisruptedFor {
		return Decision{Reason: ReasonOthersFirst}
	}
	left := s.UnavailableAllowed
	if marked(pod) {
		left = s.CurrentAvailable - s.DesiredAvailable
	}
	switch {
	case left <= 0:
		return Decision{Reason: ReasonNothingAllowed}
	case full(s):
		return Decision{Reason: ReasonTooManyRecords}
	}
	return Decision{Allowed: true, Reason: fmt.Sprintf("%d may go", left), Status: book(s, pod, operation, now)}
}

// Why no budget has to be asked about a pod whose eviction is recorded nevertheless. (PUB-14.1, PUB-14.3)
const (
	untold       = "no budget protects the pod"
	notReady     = "the pod is not ready"
	inconsistent = "the pod does not run yet what its spec says"
)

// unprotected says why no budget has to be asked about an operation; empty if the status
// of the budget tells. (PUB-14)
func unprotected(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod, request Request) string {
	switch name := pod.Annotations[v1alpha1.RelatedPubAnnotation]; {
	case name == "", b != nil && name != b.Name:
		return untold
	case pod.Annotations[v1alpha1.PodPubNoProtectionAnnotation] == "true":
		return "the pod has the annotation " + v1alpha1.PodPubNoProtectionAnnotation
	case !Ready(pod):
		return notReady
	case request.InconsistentMayGo && waiting(pod) != "":
		return inconsistent
	case b == nil:
		return fmt.Sprintf("there is no budget %s", name)
	case !MayCount(b, pod):
		return fmt.Sprintf("the budget %s is not about the pod", b.Name)
	case !protectsFrom(b, request):
		return fmt.Sprintf("the budget does not protect from %s", request.Operation)
	}
	return ""
}

// keepOut records a pod that is to be evicted and does not count, since it is not ready or not told of the budget. So it
// does not count either if that changes before the eviction. It is not judged again. Nothing is taken off the budget. It
// returns nil if there is nothing to keep it out of. (PUB-14.1, PUB-14.3)
func keepOut(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod, now time.Time) *v1alpha1.PodUnavailableBudgetStatus {
	s := &b.Status
	if !Active(pod) || !protects(b, v1alpha1.PubEvictOperation) || s.ObservedGeneration == 0 || s.DesiredAvailable == 0 && s.ObservedGeneration >= b.Generation {
		return nil
	}
	if _, kind := recordOf(s, pod); kind != "" {
		return renew(s, pod, kind, now)
	}
	if full(s) {
		return nil
	}
	return renew(s, pod, disrupted, now)
}

// full tells whether so many pods are recorded that no more can be. (PUB-14.10)
func full(s *v1alpha1.PodUnavailableBudgetStatus) bool {
	return len(s.DisruptedPods)+len(s.UnavailablePods) > maxRecords
}

// renew keeps a pod recorded for as long as if it had been now. (PUB-14)
func renew(s *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod, kind recordKind, now time.Time) *v1alpha1.PodUnavailableBudgetStatus {
	before, s := s, s.DeepCopy()
	record(s, pod, kind, metav1.NewTime(now))
	keepSince(s, before, pod, now)
	return s
}

// book takes one pod off the budget, and records it. A pod that was marked for deletion when the budget was counted leaves
// as many for others as before. Whether it was, the status does not tell: if not, it leaves one less, but as many as if
// pods were missing from the total. (PUB-13, PUB-14)
func book(s *v1alpha1.PodUnavailableBudgetStatus, pod *corev1.Pod, operation v1alpha1.PubOperation, now time.Time) *v1alpha1.PodUnavailableBudgetStatus {
	s = s.DeepCopy()
	kind := disrupted
	if operation == v1alpha1.PubUpdateOperation || operation == v1alpha1.PubResizeOperation {
		kind = unavailable
	}
	record(s, pod, kind, metav1.NewTime(now))
	s.CurrentAvailable--
	left := s.UnavailableAllowed - 1
	if marked(pod) {
		left = max(left, min(s.UnavailableAllowed, s.TotalReplicas-s.DesiredAvailable))
	}
	s.UnavailableAllowed = max(min(left, s.CurrentAvailable-s.DesiredAvailable), 0)
	return s
}
