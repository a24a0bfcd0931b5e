// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/workload"
)

// Input is what the subset of a new pod depends on. It is not changed.
type Input struct {
	// Pod is the pod that is created. Required.
	Pod *corev1.Pod
	// Spread is the WorkloadSpread. Required.
	Spread *v1alpha1.WorkloadSpread
	// Workload is the one that it names. Nil: it is not known, as if it wanted nothing.
	Workload *Workload
	// OwnerWants is how many pods the controller of the pod wants, if that is another than
	// Workload: the ReplicaSet of a Deployment. Nil: not known.
	OwnerWants *int32
	// Pods are the pods of the workload, in any order, as far as they are seen.
	Pods []*corev1.Pod
	// Reservations are pods that were assigned before, in any order.
	Reservations []Reservation
	// Key stands for the pod in its annotation if it has no name yet.
	Key string
	// Now is the present time.
	Now time.Time
}

// Assignment says to which subset a new pod goes.
type Assignment struct {
	// Subset is the name of the subset; empty if the pod is created unchanged.
	Subset string
	// Why says why, in words.
	Why string
	// Counted tells that the pod is to be remembered in a Reservation until it is seen.
	Counted bool
	// Beyond tells that the pod would be one more than the workload wants: what is known may be
	// behind, and the answer another soon. (WS-9)
	Beyond bool
}

// assign says which subset a new pod goes to. (WS-4 to WS-9)
func assign(in Input) Assignment {
	switch {
	case in.Pod == nil || in.Spread == nil || len(in.Spread.Spec.Subsets) == 0:
		return Assignment{Why: "there are no subsets"}
	case in.Spread.DeletionTimestamp != nil:
		return Assignment{Why: "the WorkloadSpread is being deleted"}
	}
	if !selects(in.Spread)(in.Pod) {
		return Assignment{Why: "the selector of targetFilter does not select it"}
	}
	subsets := in.Spread.Spec.Subsets
	if len(subsets) == 1 && subsets[0].MaxReplicas == nil {
		return Assignment{Subset: subsets[0].Name, Why: "it is the only subset"}
	}
	if kind, _ := KindOf(in.Spread); byOrdinal(kind) {
		return in.byOrdinal()
	}
	if before := in.before(); before != "" {
		return Assignment{Subset: before, Why: "it is assigned already"}
	}
	return in.byCount()
}

// byOrdinal assigns a pod of a StatefulSet. (WS-5)
func (in *Input) byOrdinal() Assignment {
	_, ordinal, ok := podplan.SplitOrdinal(in.Pod.Name)
	if !ok {
		return Assignment{Why: fmt.Sprintf("the name %q has no ordinal", in.Pod.Name)}
	}
	index := int64(ordinal)
	if w := in.Workload; w != nil {
		reserved, _ := workload.ParseReserved(w.Reserved) // the controller of StatefulSets reports an entry that says nothing
		index = int64(reserved.Rank(int(w.Start), int(ordinal)))
	}
	var sum int64
	for i := range in.Spread.Spec.Subsets {
		subset := &in.Spread.Spec.Subsets[i]
		if !schedulable(in.Spread, subset.Name) {
			continue
		}
		limit := limit(subset, in.Workload.Wants())
		if sum += int64(limit); limit == Unlimited || index < sum {
			return Assignment{Subset: subset.Name, Why: fmt.Sprintf("it is number %d", index)}
		}
	}
	return Assignment{Why: fmt.Sprintf("it is number %d, and the subsets take %d", index, sum)}
}

// before is the subset that the pod was assigned to by an earlier call about it; empty for
// none. (WS-6)
func (in *Input) before() string {
	m := newMembers(in.Spread)
	if i := m.subset(in.Pod); i >= 0 {
		subset := &in.Spread.Spec.Subsets[i]
		matched, _ := Matched(in.Pod)
		if hasTerm(subset) && carries(in.Pod, subset) || matched.UID != "" && in.reserved(matched.UID) != nil {
			return subset.Name
		}
	}
	if in.Pod.Name != "" {
		if r := in.reserved(in.Pod.Name); r != nil && m.named(r.Subset) >= 0 && schedulable(in.Spread, r.Subset) {
			return r.Subset
		}
	}
	return ""
}

func (in *Input) reserved(key string) *Reservation {
	for i := range in.Reservations {
		if r := &in.Reservations[i]; r.Key == key && !r.Expired(in.Now) {
			return r
		}
	}
	return nil
}

// byCount assigns a pod if pods are missing. (WS-8)
func (in *Input) byCount() Assignment {
	tallies, beyond := in.count()
	a := Assignment{Counted: true, Beyond: beyond}
	choose := func(why string, takes func(*tally) bool) bool {
		for i := range tallies {
			if t := &tallies[i]; t.open && takes(t) {
				a.Subset = in.Spread.Spec.Subsets[i].Name
				a.Why = fmt.Sprintf("%s: it has %d pods of its share of %d", why, t.all, t.share)
				return true
			}
		}
		return false
	}
	isLatest := in.Workload.latest(revisionOf(in.Pod))
	switch {
	case choose("it misses pods", func(t *tally) bool { return t.all < t.share && (!isLatest || t.same < t.share) }):
	case isLatest && choose("it misses pods of this revision", func(t *tally) bool { return t.same < t.share }):
	case choose("it has room", func(t *tally) bool { return !t.full() }):
	default:
		return Assignment{Why: "every subset is full, or takes no pods because some could not be scheduled", Beyond: beyond}
	}
	return a
}

// count counts the pods of every subset, and those of the new pod's revision; and whether the
// workload has all its pods already. (WS-3, WS-7, WS-9)
func (in *Input) count() (tallies []tally, beyond bool) {
	wants := in.Workload.Wants()
	tallies = make([]tally, len(in.Spread.Spec.Subsets))
	for i := range tallies {
		subset := &in.Spread.Spec.Subsets[i]
		tallies[i] = tally{limit: limit(subset, wants), open: schedulable(in.Spread, subset.Name)}
	}
	m, revision, owner := newMembers(in.Spread), revisionOf(in.Pod), controllerOf(in.Pod)
	var ofOwner, others, alike, loose int32
	add := func(subset int, of types.UID, rev string) {
		if of == owner {
			ofOwner++
		}
		if rev != revision {
			others++
		} else if of == owner {
			alike++
		}
		if subset < 0 {
			loose += int32(yes(in.Workload.latest(rev)))
			return
		}
		tallies[subset].all++
		if rev == revision {
			tallies[subset].same++
		}
	}
	for _, pod := range selectedBy(in.Spread, in.Pods) {
		if pod != nil && podstate.Active(pod) && (pod.Name != in.Pod.Name || in.Pod.Name == "") {
			add(m.subset(pod), controllerOf(pod), revisionOf(pod))
		}
	}
	pending := in.pending()
	for _, r := range pending {
		add(m.named(r.Subset), r.Owner, r.Revision)
	}
	for _, r := range in.refused(pending, alike+1) {
		if i := m.named(r.Subset); i >= 0 {
			tallies[i].all--
			tallies[i].same--
		}
	}
	share(tallies, max(wants-loose, 0))
	switch {
	case in.OwnerWants != nil:
		beyond = ofOwner >= *in.OwnerWants
	case in.Workload.kind() != Deployments:
		beyond = others == 0 && ofOwner >= wants
	}
	return tallies, beyond
}

// pending are the reservations of other pods that are not seen, the oldest first. (WS-7)
func (in *Input) pending() (pending []*Reservation) {
	seen := Seen(in.Reservations, in.Pods)
	for i := range in.Reservations {
		if r := &in.Reservations[i]; !seen[r.Key] && !r.Expired(in.Now) && r.Key != in.Pod.Name {
			pending = append(pending, r)
		}
	}
	slices.SortStableFunc(pending, func(a, b *Reservation) int { return a.Since.Compare(b.Since) })
	return pending
}

// refused are those of the pending reservations whose pods were refused after they were assigned. The controller of the
// pod would have more pods of that revision than it wants, so many of them with this one. (WS-7)
func (in *Input) refused(pending []*Reservation, alike int32) (refused []*Reservation) {
	wants := in.Workload.Wants()
	switch {
	case in.OwnerWants != nil:
		wants = *in.OwnerWants
	case in.Workload == nil || in.Workload.kind() == Deployments:
		return nil
	}
	revision, owner := revisionOf(in.Pod), controllerOf(in.Pod)
	for _, r := range pending {
		if alike > wants && r.Owner == owner && r.Revision == revision && !r.Since.IsZero() && in.Now.Sub(r.Since) > settleFor {
			alike--
			refused = append(refused, r)
		}
	}
	return refused
}

// controllerOf is the UID of the controller of a pod; empty for none.
func controllerOf(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return ref.UID
	}
	return ""
}
