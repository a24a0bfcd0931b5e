// SPDX-License-Identifier: Apache-2.0

package inplace

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/inplace/revision"
)

// Calculator answers Calculate for the pods of a workload, once for each
// revision that they come from. It is for one goroutine.
type Calculator struct {
	// History holds the workload's revisions, in any order; nil ones do not count.
	History []*appsv1.ControllerRevision
	// To is the revision to update to. Without one no pod can be updated in place.
	To *appsv1.ControllerRevision
	// Options tunes Calculate.
	Options CalculateOptions

	known map[string]calculated
}

type calculated struct {
	update    *Update
	obstacles []Obstacle
}

// For returns the update of a pod by the value of its revision label. Otherwise it
// returns nil and the reasons why there is none, at least one. A revision
// that is gone or cannot be read is such a reason. The update is shared by all
// pods of a revision.
func (c *Calculator) For(revisionLabel string) (*Update, []Obstacle) {
	if found, ok := c.known[revisionLabel]; ok {
		return found.update, found.obstacles
	}
	var from *appsv1.ControllerRevision
	for _, r := range c.History {
		if r != nil && revision.Matches(revisionLabel, r.Name) {
			from = r
			break
		}
	}
	update, obstacles, err := Calculate(from, c.To, c.Options)
	if err != nil {
		obstacles = []Obstacle{{Reason: err.Error()}}
	}
	if c.known == nil {
		c.known = map[string]calculated{}
	}
	c.known[revisionLabel] = calculated{update, obstacles}
	return update, obstacles
}
