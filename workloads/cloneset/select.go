// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"

	"github.com/podwright/podwright/inplace/rollout"
)

// selection is what is decided about pods that are to be updated or deleted.
type selection struct {
	now   []*pod         // those whose turn it is, in order
	waits []rollout.Wait // why the others stay
}

// unavailablePods counts the pods that are not available, whatever else they are:
// unlike in a class, those marked for deletion are among them.
type unavailablePods struct {
	// All is the number of unavailable pods.
	All int32
	// AtTarget is how many of them are already at the revision that pods are updated to.
	AtTarget int32
}

// selectForUpdate says which of the candidates are updated now, and why the
// others wait. The candidates are the pods of the revision that pods leave
// from (the old one; the update revision if Diff.Update is negative). They come in
// the order in which they are to be updated. Left out are those that cannot be
// updated for reasons of their own.
//
// At most |Diff.Update| pods are updated. So that the target revision cannot break
// more pods than that, no more than Diff.UpdateMaxUnavailable may be
// unavailable at it, or updated. So that service goes on, no available pod
// is updated if so many pods of any revision are unavailable. Pods that are
// missing narrow that limit, but not for a pod that is unavailable already: the
// missing ones may wait for it. With a maxSurge, a pod that only waits for
// minReadySeconds is held back as an available one is: users may go to it. A prepared pod is not held back. A pod that is
// held back is passed over, and holds back no other. (CS-31)
func (t tally) selectForUpdate(candidates []*pod, unavailable unavailablePods) (s selection) {
	w := walk{tally: t, diff: t.diff(),
		unavailable: unavailablePods{All: max(unavailable.All, 0), AtTarget: max(unavailable.AtTarget, 0)}}
	held := make([]hold, len(candidates))
	most := int(max(w.diff.Update, -w.diff.Update))
	s.now = make([]*pod, 0, min(most, len(candidates)))
	for i, pod := range candidates {
		if held[i] = w.step(pod); held[i] == notHeld {
			s.now = append(s.now, pod)
		}
	}
	s.waits = make([]rollout.Wait, 0, len(candidates)-len(s.now))
	var reasons [holds]*rollout.Reason
	for i, pod := range candidates {
		why := held[i]
		if why == notHeld {
			continue
		}
		if len(s.now)+len(s.waits) >= most {
			why = heldByRevision // it would wait also if nothing else held it back
		}
		if reasons[why] == nil {
			reasons[why] = w.reason(why)
		}
		s.waits = append(s.waits, pod.Waits(reasons[why]))
	}
	return s
}

// hold is what holds a pod back.
type hold uint8

const (
	notHeld        hold = iota
	heldByRevision      // enough pods are updated, or none has to be
	heldByTarget        // too many pods are unavailable at the target
	heldByBroken        // the same, for a pod that is unavailable itself
	heldByAll           // too many pods are unavailable
	heldSettling        // the same, for a pod that only waits for minReadySeconds
	holds
)

// walk goes from candidate to candidate.
type walk struct {
	tally
	diff        Diff
	unavailable unavailablePods

	accepted, disrupted int32 // disrupted are accepted pods that were available
}

// step accepts a candidate, or says what holds it back.
func (w *walk) step(pod *pod) hold {
	at := w.unavailable.AtTarget + w.accepted
	settling := pod.settling() && w.MaxSurge > 0
	switch {
	case w.accepted >= max(w.diff.Update, -w.diff.Update):
		return heldByRevision
	case pod.prepared() && !pod.Available:
	case settling && (at >= w.diff.UpdateMaxUnavailable || w.unavailable.All+w.disrupted >= w.diff.UpdateMaxUnavailable):
		return heldSettling
	case settling:
		w.disrupted++
	case !pod.Available && at >= w.brokenMaxUnavailable():
		return heldByBroken
	case !pod.Available:
	case !pod.prepared() && at >= w.diff.UpdateMaxUnavailable:
		return heldByTarget
	case w.unavailable.All+w.disrupted >= w.diff.UpdateMaxUnavailable:
		return heldByAll
	default:
		w.disrupted++
	}
	w.accepted++
	return notHeld
}

// brokenMaxUnavailable is how many pods may be unavailable at the target while one is updated that is unavailable already. It is
// at least 1: a broken pod can always be repaired.
func (t tally) brokenMaxUnavailable() int32 {
	return max(positive(int64(t.MaxUnavailable)+max(t.extra(), 0)), 1)
}

// reason puts into words what holds pods back.
func (w *walk) reason(why hold) *rollout.Reason {
	switch why {
	case heldByRevision:
		return w.revisionReason(w.diff)
	case heldByAll:
		return w.allUnavailable(w.diff, w.unavailable.All, w.disrupted)
	case heldSettling:
		reason := w.allUnavailable(w.diff, w.unavailable.All, w.disrupted)
		reason.Message += "; with maxSurge, a pod that serves and waits for minReadySeconds is replaced as an available one is"
		return reason
	case heldByBroken:
		return w.targetUnavailable(w.diff, w.brokenWords(), w.brokenMaxUnavailable(), w.unavailable.AtTarget, w.accepted)
	default:
		return w.targetUnavailable(w.diff, w.maxUnavailableWords(), w.diff.UpdateMaxUnavailable, w.unavailable.AtTarget, w.accepted)
	}
}

// selectForDeletion says which of the pods chosen for deletion go now, and why
// the others wait. Pods that are not ready go freely, ready ones within
// Diff.DeleteReadyBudget. Chosen are either all pods marked for deletion that
// are not in the state PreparingDelete or, if there are none of both,
// surplus pods. They are in the order in which they are to be deleted.
// A surplus pod that is settling is unavailable before and after: it goes as long as enough pods serve without it.
// (CS-22, CS-23)
//
// Pods marked for deletion do not count as unavailable in a tally. Those of
// them that are not ready, or are settling, take their share of the budget
// here. So marking some cannot take down more than maxUnavailable.
func (t tally) selectForDeletion(chosen []*pod) (s selection) {
	t = t.counts()
	unavailable, marked := t.unavailable(), t.specified() > 0
	if marked {
		unavailable += notAvailable(chosen)
	}
	budget := t.maxUnavailable() - unavailable
	serving := budget + min(int64(t.Settling), unavailable) // of those that serve, however short a time
	var used, settled int64
	var reason *rollout.Reason
	s.now = make([]*pod, 0, len(chosen))
	for _, pod := range chosen {
		share := int64(1)
		if marked && pod.settling() {
			share = 0 // it counts as unavailable already
		}
		free := !marked && pod.settling() && used+settled < serving
		if pod.Serves() && !free && used+share > budget {
			if reason == nil {
				reason = t.deleteReason(positive(unavailable), int32(used))
			}
			s.waits = append(s.waits, pod.Waits(reason))
			continue
		}
		if free {
			settled++
		} else if pod.Serves() {
			used += share
		}
		s.now = append(s.now, pod)
	}
	return s
}

func notAvailable(pods []*pod) (n int64) {
	for _, pod := range pods {
		if !pod.Serves() || pod.settling() {
			n++
		}
	}
	return n
}

// scaleDownBlocked returns why surplus pods are not deleted although
// Diff.ScaleDown asks for it. Pods that were marked for deletion, or that are
// in the state PreparingDelete, go first. Nil if nothing is in the way.
// (CS-23)
func (t tally) scaleDownBlocked() *rollout.Reason {
	t = t.counts()
	n := t.specified() + t.preparingDelete()
	if n == 0 {
		return nil
	}
	return &rollout.Reason{Rule: rollout.RuleDeleteFirst, Observed: positive(n), Message: fmt.Sprintf(
		"replicas %d: %s marked for deletion or being prepared for it, which goes before scaling in",
		t.Replicas, count(n, "pod is", "pods are"))}
}

// createBlocked returns why fewer pods are created than are missing: the limit
// of scaleStrategy.maxUnavailable. Nil if all are created.
// (CS-12, CS-16)
func (t tally) createBlocked() *rollout.Reason {
	t = t.counts()
	d := t.diff()
	if d.Create == d.ScaleUp {
		return nil
	}
	return &rollout.Reason{Rule: rollout.RuleScaleMaxUnavailable, Limit: t.ScaleMaxUnavailable, Observed: positive(t.unavailable()),
		Message: fmt.Sprintf("scaleStrategy.maxUnavailable %d: %s unavailable already, so %d of %s%s created now",
			t.ScaleMaxUnavailable, count(t.unavailable(), "pod is", "pods are"),
			d.Create, count(d.ScaleUp, "missing pod", "missing pods"), verb(d.Create))}
}
