// SPDX-License-Identifier: Apache-2.0

package revision

// Progress is how far the pods of a workload have come to its update revision.
type Progress struct {
	// Wanted is the number of pods that the workload shall have.
	Wanted int32
	// Updated is how many of those are there, are not about to leave, and are at
	// the update revision; and ready, where the kind asks for that.
	Updated int32
	// Behind is the number of pods that exist and are not at the update
	// revision, or not ready where the kind asks for that, wanted or not.
	Behind int32
	// HeldBack is how many of the wanted pods the partition holds back from the
	// update revision.
	HeldBack int32
}

// MayAdvance tells whether the update revision becomes the current one, from
// which held-back pods are created: no pod is behind, and either every wanted pod
// is there, or the partition holds none back. A pod that is missing tells nothing
// of its revision. If it counted as updated, the eviction of the pods that a
// partition holds back would let the update out.
func (p Progress) MayAdvance() bool {
	return p.Behind == 0 && (p.HeldBack == 0 || p.Updated >= p.Wanted)
}
