// SPDX-License-Identifier: Apache-2.0

package revision

// Progress is how far the pods of a workload have come to its update revision.
type Progress struct {
	// Wanted is the number of pods that the workload shall have.
	Wanted int32
	// Updated is how many of those are there, are not about to leave, and are at
	// the update revision. They are also ready or available, if the kind asks for that.
	Updated int32
	// Behind is the number of pods that exist and do not count as Updated for
	// their revision or readiness, wanted or not.
	Behind int32
}

// MayAdvance tells whether the update revision becomes the current one, from which
// pods that the partition holds back are created. It does when every wanted pod is there and updated,
// and no pod is behind. A pod that is missing tells nothing of a revision that may never have run. If it
// counted as updated, a broken update could become the current one, and to raise the
// partition would bring it back. Without pods that are wanted nothing is waited for.
func (p Progress) MayAdvance() bool { return p.Behind == 0 && p.Updated >= p.Wanted }
