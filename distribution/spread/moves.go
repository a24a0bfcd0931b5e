// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"time"
)

// In moveWithin at most fewMoves pods are deleted, or a part of movedPart of the workload's pods if that is more. (WS-36)
const (
	moveWithin = 5 * time.Second
	fewMoves   = 10
	movedPart  = 10
)

// Recent returns those of the times of deletions, the oldest first, that still count. A time that lies ahead of now does not. (WS-36)
func Recent(moved []time.Time, now time.Time) []time.Time {
	return slices.DeleteFunc(slices.Clone(moved), func(at time.Time) bool { return at.After(now) || now.Sub(at) >= moveWithin })
}

// bound says how many of the pods that are to be deleted may be at once. (WS-36)
func (c *computer) bound() {
	if len(c.Deletions) == 0 {
		return
	}
	pods := min(int(c.Workload.Wants()), len(active(c.Pods)))
	recent := Recent(c.Moved, c.Now)
	c.MayDelete = max(max(fewMoves, (pods+movedPart-1)/movedPart)-len(recent), 0)
	switch {
	case len(c.Deletions) <= c.MayDelete:
	case len(recent) > 0:
		c.again(recent[0].Add(moveWithin).Sub(c.Now))
	default:
		c.again(moveWithin)
	}
}
