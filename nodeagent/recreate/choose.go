package recreate

import (
	"cmp"
	"slices"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Chosen returns the request that is worked on: one that has been begun before
// one that waits, and that before a new one; of the same phase the oldest. Nil
// where all are over.
func (s *Snapshot) Chosen() *v1alpha1.ContainerRecreateRequest {
	requests := inOrder(s.Requests)
	if len(requests) == 0 {
		return nil
	}
	return requests[0]
}

// inOrder returns the requests that are not over, in the order in which they are
// worked on. (§5.2)
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
