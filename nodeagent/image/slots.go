// SPDX-License-Identifier: Apache-2.0

package image

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/nodeagent/internal/shares"
)

// owningNamespaces returns the namespaces of the owners of a task, each once and
// sorted; nil if it has none.
func owningNamespaces(owners []corev1.ObjectReference) []string {
	if len(owners) == 0 {
		return nil
	}
	namespaces := []string{}
	for _, owner := range owners {
		if owner.Namespace != "" {
			namespaces = append(namespaces, owner.Namespace)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// slots shares the pulls at the same time among namespaces: a registry that does not
// answer the tasks of one holds up no other. (IMG-3.6)
type slots struct {
	most, running int
	of            map[string]int // pulls by the namespaces that want them
}

func newSlots(most int) *slots { return &slots{most: most, of: map[string]int{}} }

// take counts a pull for every namespace that wants it.
func (s *slots) take(t *task) {
	s.running++
	for _, namespace := range s.namespaces(t) {
		s.of[namespace]++
	}
}

// namespaces are those that a pull counts for. Tasks without an owner, and those of
// owners without a namespace, count together.
func (*slots) namespaces(t *task) []string {
	if namespaces := owningNamespaces(t.spec.OwnerReferences); len(namespaces) > 0 {
		return namespaces
	}
	return []string{""}
}

// load is the number of pulls of the namespace that has the fewest, of those that
// want a task.
func (s *slots) load(t *task) int {
	least := s.running
	for _, namespace := range s.namespaces(t) {
		least = min(least, s.of[namespace])
	}
	return least
}

// next returns which of the tasks has its turn. It is of the namespace that has the
// fewest pulls. Of several it is the one that has failed least, then the first. It
// returns -1 if none may begin. A namespace of which nothing is pulled may begin one pull
// beyond the limit, as long as there are not twice as many.
func (s *slots) next(due []*task) int {
	best, bestLoad := -1, 0
	for i, t := range due {
		load := s.load(t)
		if s.running >= s.most && (load > 0 || s.running >= 2*s.most) {
			continue
		}
		if best < 0 || load < bestLoad || load == bestLoad && t.failures() < due[best].failures() {
			best, bestLoad = i, load
		}
	}
	return best
}

// assign starts the tasks that have their turn, and notes what the others wait for.
func (s *slots) assign(p *planner, due []*task) {
	for i := s.next(due); i >= 0; i = s.next(due) {
		s.take(due[i])
		p.start(due[i])
		due = slices.Delete(due, i, i+1)
	}
	for _, t := range due {
		full := fmt.Sprintf("%d other pulls are under way, which is as many as may be: of %s", s.running, shares.Text(s.of))
		p.holdUp(t, full)
		p.wait(t.Task, created(t), &rollout.Reason{Rule: ruleConcurrency, Limit: int32(s.most), Observed: int32(s.running), Message: full})
	}
}

// failures is the number of attempts at a task that have failed.
func (t *task) failures() int {
	if t.pull == nil {
		return 0
	}
	return t.pull.Failures
}
