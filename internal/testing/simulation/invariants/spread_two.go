// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"slices"
	"strings"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// spreadResource is where a state has all WorkloadSpreads of a history.
const spreadResource = "workloadspreads"

// WithHolder returns a state whose workload is the WorkloadSpread that has the pods, of several that name the same workload. That is the
// one that was created first, or the first by name of those that were created together. One that is being deleted comes last. (WS-22)
func WithHolder(s *State) *State {
	if s == nil || len(s.Further[spreadResource]) == 0 {
		return s
	}
	all := make([]*v1alpha1.WorkloadSpread, 0, 2)
	for _, object := range s.Further[spreadResource] {
		all = append(all, object.(*v1alpha1.WorkloadSpread))
	}
	last := func(ws *v1alpha1.WorkloadSpread) int {
		if ws.DeletionTimestamp != nil {
			return 1
		}
		return 0
	}
	held := *s
	held.Workload = slices.MinFunc(all, func(a, b *v1alpha1.WorkloadSpread) int {
		return cmp.Or(last(a)-last(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	})
	return &held
}

// WorkloadSpreads judges a write of the controller of several WorkloadSpreads that name the same workload. One of them has the pods, and
// of the others only the status is written, by which they have none. (WS-22)
func WorkloadSpreads(w *Write) []Violation {
	held := *w
	held.Truth, held.Known, held.Observed = WithHolder(w.Truth), WithHolder(w.Known), WithHolder(w.Observed)
	known := held.Truth
	if held.Known != nil {
		known = held.Known
	}
	after, isSpread := w.After.(*v1alpha1.WorkloadSpread)
	if holder := known.Workload; !isSpread || holder == nil || after.UID == holder.GetUID() || w.Subresource != "status" || w.Verb != "patch" {
		return WorkloadSpread(&held)
	}
	var found violations
	if f := withoutPods(known, known.Further[spreadResource][after.Name]); f == nil {
		found.add(Needless, "the status of %s is written, which is not there", after.Name)
	} else {
		f.checkStatusWrite(&found, w)
	}
	return found
}

// withoutPods is a WorkloadSpread whose workload another one has; nil for nil.
func withoutPods(s *State, object Object) *spreading {
	ws, _ := object.(*v1alpha1.WorkloadSpread)
	if ws == nil {
		return nil
	}
	return &spreading{WorkloadSpread: ws, state: s}
}

// WorkloadSpreadsSettled judges what there is when nothing more happens, of several WorkloadSpreads that name the same workload. Those that
// do not have it say which one does. Even is of the one that has it. (WS-22)
func WorkloadSpreadsSettled(s *State, even bool) []Violation {
	s = WithHolder(s)
	v := violations(WorkloadSpreadSettled(s, even))
	for _, object := range s.Further[spreadResource] {
		f := withoutPods(s, object)
		if f.UID == s.Workload.GetUID() {
			if says := f.heldUp(); strings.HasPrefix(says, taken) {
				v.add(Status, "%s has the workload, and says %s", f.Name, says)
			}
			continue
		}
		if f.Status.ObservedGeneration != f.Generation {
			v.add(Status, "observedGeneration of %s is %d, not %d", f.Name, f.Status.ObservedGeneration, f.Generation)
		}
		f.checkStatus(&v, &f.Status, false)
		f.checkConditions(&v)
		if f.DeletionTimestamp == nil && f.heldUp() != taken+": WorkloadSpread "+s.Workload.GetName() {
			v.add(Status, "%s has the workload, and %s says %q", s.Workload.GetName(), f.Name, f.heldUp())
		}
	}
	return v
}

// taken is the reason that a WorkloadSpread tells if another one has its workload.
const taken = "WorkloadTaken"

// heldUp is the reason that a WorkloadSpread tells with its first subset, and the object that the message begins with; empty for none.
func (f *spreading) heldUp() string {
	if len(f.Status.SubsetStatuses) == 0 {
		return ""
	}
	for _, c := range f.Status.SubsetStatuses[0].Conditions {
		if c.Type == "HeldUp" {
			object, _, _ := strings.Cut(c.Message, ": ")
			return c.Reason + ": " + object
		}
	}
	return ""
}
