// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultHistoryLimit is how many unused revisions a workload retains that does
// not say it.
const DefaultHistoryLimit = 10

// Changes is what a reconcile of a workload does to its history.
type Changes struct {
	// Update is the revision of the present template, Current the one that
	// pods come from. They are the same when nothing is rolled out.
	Current, Update *appsv1.ControllerRevision
	// Missing is the name that the status gives to the current revision if the
	// history does not have it, else empty. Current is then a guess, and a history
	// that comes from a cache may only be behind.
	Missing string
	// Adopt lists revisions without a controller that the workload adopts.
	Adopt []*appsv1.ControllerRevision
	// Create is Update when it does not exist yet, else nil.
	Create *appsv1.ControllerRevision
	// Raise is Update when it exists with a lower number than another revision
	// (a roll-back), else nil. RaiseTo is its new number.
	Raise   *appsv1.ControllerRevision
	RaiseTo int64
	// Annotate are annotations that Raise gets together with its number. May be nil.
	Annotate map[string]string
	// Refused is why Update cannot be written: no pod gets it, and it may be there under no name. Nil if it can.
	Refused error
	// Delete lists the revisions beyond the history limit, oldest first.
	Delete []*appsv1.ControllerRevision
}

// Any tells whether there is anything to write.
func (c *Changes) Any() bool {
	return c.Create != nil || c.Raise != nil || len(c.Adopt)+len(c.Delete) > 0
}

// String lists what is written to the history, one revision a line, below the
// current and the update revision. The zero Changes gives "no revision".
func (c Changes) String() string {
	if c.Update == nil {
		return "no revision"
	}
	lines := []string{"update revision " + c.Update.Name}
	if c.Current != nil && c.Current != c.Update {
		lines[0] = "current revision " + c.Current.Name + ", " + lines[0]
	}
	if c.Missing != "" {
		lines[0] += " (the history lacks " + c.Missing + ")"
	}
	if c.Refused != nil {
		lines[0] += " (which cannot be written)"
	}
	for _, r := range c.Adopt {
		lines = append(lines, "adopt revision "+r.Name)
	}
	if c.Create != nil {
		lines = append(lines, fmt.Sprintf("create revision %s (%d)", c.Create.Name, c.Create.Revision))
	}
	if c.Raise != nil {
		lines = append(lines, fmt.Sprintf("raise revision %s to %d", c.Raise.Name, c.RaiseTo))
	}
	for _, r := range c.Delete {
		lines = append(lines, "delete revision "+r.Name)
	}
	return strings.Join(lines, "\n")
}

// Plan decides what to do with the history of a workload: see Next for wanted
// and the error. Current is the name that the workload's status gives to the
// revision that pods come from. If there is no such revision, it is the latest
// one but Update that pods come from, by the values of their revision labels.
// If there is none either, nothing is rolled out.
func Plan(history []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision, current string, podLabels iter.Seq[string]) (Changes, error) {
	history = Usable(history)
	live := liveOf(podLabels)
	next, err := nextLive(history, wanted, live)
	if err != nil {
		return Changes{}, err
	}
	c := Changes{Current: next.Revision, Update: next.Revision}
	switch next.Action {
	case Create:
		c.Create = next.Revision
	case Raise:
		c.Raise, c.RaiseTo = next.Revision, next.Revision.Revision
	}
	c.findCurrent(history, current, live)
	return c, nil
}

// liveOf are the short hashes of the revisions that pods come from.
func liveOf(podLabels iter.Seq[string]) map[string]bool {
	live := map[string]bool{}
	for label := range podLabels {
		live[ShortHash(label)] = true
	}
	return live
}

// nextLive is Next but for one thing. An equal revision without pods does not take the place of one that pods come from, if
// it has no controller or the same number. All of them would roll to what they have. (CS-CR5)
func nextLive(history []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision, live map[string]bool) (Decision, error) {
	next, err := Next(history, wanted)
	for d := next; err == nil && d.Action != Create; {
		if live[ShortHash(d.Revision.Name)] {
			return d, nil
		}
		at := slices.IndexFunc(history, func(r *appsv1.ControllerRevision) bool { return r.Name == d.Revision.Name })
		number, owned := history[at].Revision, metav1.GetControllerOfNoCopy(history[at]) != nil
		history = slices.Delete(slices.Clone(history), at, at+1)
		if d, err = Next(history, wanted); owned && d.Action != Create && numberOf(history, d.Revision.Name) != number {
			break
		}
	}
	return next, err
}

func numberOf(history []*appsv1.ControllerRevision, name string) int64 {
	return history[slices.IndexFunc(history, func(r *appsv1.ControllerRevision) bool { return r.Name == name })].Revision
}

// findCurrent finds the current revision by its name, or else by the pods. A status
// names none before it was first written, which an edit of the template can
// hold up until there are pods.
func (c *Changes) findCurrent(history []*appsv1.ControllerRevision, name string, live map[string]bool) {
	if name == c.Update.Name {
		return
	}
	for _, r := range history {
		if r.Name == name {
			c.Current = r
			return
		}
	}
	c.Missing = name
	ordered := slices.Clone(history)
	Sort(ordered)
	for _, r := range ordered {
		if r.Name != c.Update.Name && live[ShortHash(r.Name)] {
			c.Current = r
		}
	}
}

// Prune plans to delete the revisions beyond the limit (nil: DefaultHistoryLimit)
// that nothing uses. Those are neither Current nor Update, nor one that a pod comes from,
// by the values of the pods' revision labels. (CS-CR7)
//
// It does nothing if Current or Update is nil.
func (c *Changes) Prune(history []*appsv1.ControllerRevision, limit *int32, podLabels iter.Seq[string]) {
	if c.Current == nil || c.Update == nil {
		return
	}
	most := int32(DefaultHistoryLimit)
	if limit != nil {
		most = max(*limit, 0)
	}
	if len(history) <= int(most) {
		return
	}
	live := liveOf(podLabels)
	live[ShortHash(c.Current.Name)], live[ShortHash(c.Update.Name)] = true, true
	c.Delete = Surplus(history, func(name string) bool { return live[ShortHash(name)] }, most)
}
