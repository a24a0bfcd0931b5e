// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// history judges the revisions that a workload keeps of its template. Without a selector it has no orphans. (CS-CR7, DS-CR6, UD-R5)
type history struct {
	uid      types.UID
	selector *metav1.LabelSelector
	limit    *int32                           // revisionHistoryLimit
	needed   func(s *State) map[string]string // for what a revision is needed, by its short hash
	twins    map[string]bool                  // short hashes of revisions that others stand for, which go whatever the limit
}

// most is how many stay that nothing needs.
func (h *history) most() int { return max(int(ptr.Deref(h.limit, 10)), 0) }

// unused are the revisions that nothing needs, in the order in which they go. Orphans that cannot be read belong to no workload.
func (h *history) unused(s *State, needed map[string]string) (names []string) {
	templates := templatesOf(s.Revisions)
	for _, r := range slices.SortedFunc(maps.Values(s.Revisions), earlier) {
		orphan := metav1.GetControllerOfNoCopy(r) == nil && matches(h.selector, r.Labels) && templates[shortHash(r.Name)] != nil
		if (orphan || controls(h.uid, r)) && needed[shortHash(r.Name)] == "" {
			names = append(names, r.Name)
		}
	}
	return names
}

// checkWrite: a new revision belongs to the workload. One goes in the state that was seen, when nothing needs it, the oldest first, and no more
// than the limit asks for.
func (h *history) checkWrite(v *violations, w *Write) {
	v.never(w.Before == nil && !controls(h.uid, w.After), Ownership,
		"creates revision %s, which does not belong to the workload", w.name())
	if w.Verb != "delete" {
		return
	}
	v.never(w.Asked != nil && w.Asked.ResourceVersion == "", History,
		"deletes revision %s whatever has become of it since", w.name())
	needed, hash := h.needed(w.Known), shortHash(w.name())
	if why := needed[hash]; why != "" {
		v.add(History, "deletes revision %s, which is that of %s", w.name(), why)
	}
	unused := h.unused(w.Observed, needed)
	if rank := slices.Index(unused, w.name()); rank >= len(unused)-h.most() && !h.twins[hash] {
		v.add(History, "deletes revision %s, the %d. of %d that nothing needs, revisionHistoryLimit %d", w.name(), rank+1, len(unused), h.most())
	}
}

// checkLeft: when settled no more are left than the limit says.
func (h *history) checkLeft(v *violations, s *State) {
	if unused := h.unused(s, h.needed(s)); len(unused) > h.most() {
		v.add(History, "%d unused revisions are left, revisionHistoryLimit %d", len(unused), h.most())
	}
}
