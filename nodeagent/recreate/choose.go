// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// chosen returns the request that is worked on. One that has been begun goes before
// one that waits, and that before a new one; of the same phase the oldest. Nil
// if all are over.
func (s *Snapshot) chosen() *v1alpha1.ContainerRecreateRequest {
	requests := inOrder(s.Requests)
	if len(requests) == 0 {
		return nil
	}
	return requests[0]
}

// inOrder returns the requests that are not over, in the order in which they are
// worked on. (CRR-5.2)
func inOrder(all []*v1alpha1.ContainerRecreateRequest) []*v1alpha1.ContainerRecreateRequest {
	requests := slices.DeleteFunc(slices.Clone(all), over)
	slices.SortFunc(requests, func(a, b *v1alpha1.ContainerRecreateRequest) int {
		return cmp.Or(
			cmp.Compare(rank(a.Status.Phase), rank(b.Status.Phase)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	})
	return requests
}

// answerAfter is how long a request waits for the work on it to begin before it
// is answered. A controller ends it after a minute without an answer.
const answerAfter = 10 * time.Second

// waitsForAWorker begins the message of a request that waits for a worker, until the work on it begins. (CRR-5.1)
const waitsForAWorker = "waits for a worker of the node agent: "

// late answers the chosen request if the work on it has not begun for a while. That is so
// when all workers wait for the ends of containers of other pods. If it is not yet time
// for that, again says when it will be; 0 if it needs no answer.
func (s *Snapshot) late() (answer *Write, again time.Duration) {
	chosen := s.chosen()
	if chosen == nil {
		return nil, 0
	}
	since, seen := chosen.CreationTimestamp.Time, s.Seen[chosen.UID]
	switch {
	case chosen.Status.Phase == "" && seen.Request.IsZero():
	case chosen.Status.Phase == "":
		since = seen.Request
	case chosen.Status.Phase != v1alpha1.ContainerRecreateRequestPending || seen.Turn.IsZero() || s.Stopping == "" || strings.HasPrefix(chosen.Status.Message, waitsForAWorker):
		return nil, 0
	default: // it has waited for another one
		since = seen.Turn
	}
	if rest := since.Add(answerAfter).Sub(s.Now); rest > 0 {
		return nil, min(rest, answerAfter)
	}
	status := chosen.Status.DeepCopy()
	status.Phase, status.ObservedGeneration = v1alpha1.ContainerRecreateRequestPending, chosen.Generation
	why := "containers of other pods are being stopped"
	if s.Stopping != "" {
		why += ", of " + s.Stopping
		status.Message = waitsForAWorker + why
	}
	return &Write{Request: chosen, Status: status, Why: why}, 0
}

func over(r *v1alpha1.ContainerRecreateRequest) bool {
	return r.DeletionTimestamp != nil || r.Status.CompletionTime != nil
}

func rank(phase v1alpha1.ContainerRecreateRequestPhase) int {
	switch phase {
	case v1alpha1.ContainerRecreateRequestRecreating:
		return 0
	case v1alpha1.ContainerRecreateRequestPending:
		return 1
	}
	return 2
}
