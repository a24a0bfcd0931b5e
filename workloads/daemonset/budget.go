// SPDX-License-Identifier: Apache-2.0

package daemonset

import "fmt"

// Rollout holds the numbers of nodes that an update follows from. Only the nodes count
// that it may get to: those that partition and selector leave to it.
type Rollout struct {
	// MaxUnavailable and MaxSurge are the limits, one of which is 0.
	MaxUnavailable, MaxSurge int32

	// Underway is how many nodes have no old pod that serves, and no updated one that is
	// available. An update, or something else, has taken their pod out of service.
	// With MaxSurge, it is how many have an updated pod that is not available, beside the
	// old one or alone, or no pod at all.
	Underway int32
	// Unserved is how many nodes have an old pod that has never been ready.
	Unserved int32
	// Interrupted is how many nodes have an old pod that is unavailable, and may be so
	// because of an earlier update. It has never been available, or it is of a revision
	// between the current and the present one.
	Interrupted int32
	// Unavailable is how many other nodes have an old pod that is unavailable.
	Unavailable int32
	// Available is how many nodes have an old pod that is available.
	Available int32
}

// Replace is how many pods of old revisions may be updated now: Unserved, Interrupted, Unavailable and Available are
// those of the numbers of Rollout.
type Replace struct{ Unserved, Interrupted, Unavailable, Available int32 }

// Replace says how many pods may be updated, so that the update never has more pods out
// of service than MaxUnavailable, whatever made others unavailable. A pod that never
// served may always be updated. One that an earlier update has taken out of service
// already may be, if no others have to be counted as such. An available one may be
// if fewer nodes than MaxUnavailable are without an available pod. (DS-8, DS-11)
func (r *Rollout) Replace() Replace {
	replace := Replace{Unserved: r.Unserved, Interrupted: r.Interrupted}
	if r.MaxSurge > 0 {
		left := max(r.MaxSurge-r.Underway, 0)
		replace.Interrupted = min(r.Interrupted, left)
		left -= replace.Interrupted
		replace.Unavailable = min(r.Unavailable, left)
		left -= replace.Unavailable
		replace.Available = min(r.Available, left)
		return replace
	}
	disrupted := r.Underway + r.Unserved + r.Interrupted
	if disrupted > r.MaxUnavailable {
		replace.Interrupted = min(r.Interrupted, max(r.MaxUnavailable-r.Underway-r.Unserved, 0))
	}
	left := max(r.MaxUnavailable-disrupted, 0)
	replace.Unavailable = min(r.Unavailable, left)
	replace.Available = min(r.Available, max(left-r.Unavailable, 0))
	return replace
}

// held says why no more pods are updated than these.
func (r *Rollout) held(now Replace) (limit, observed int32, message string) {
	if r.MaxSurge > 0 {
		observed = r.Underway + now.Interrupted + now.Unavailable + now.Available
		return r.MaxSurge, observed, fmt.Sprintf("maxSurge %d: %d nodes have an updated pod that is not available, or none, or get one now", r.MaxSurge, observed)
	}
	observed = r.Underway + r.Unserved + r.Interrupted + r.Unavailable + now.Available
	return r.MaxUnavailable, observed, fmt.Sprintf("maxUnavailable %d: %d nodes are without an available pod, or are updated now", r.MaxUnavailable, observed)
}
