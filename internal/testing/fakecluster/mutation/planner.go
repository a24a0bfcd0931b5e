// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
)

// Planner is a planner of snapshots, and snapshots in the midst of something, by name. Between them the planner reads all that
// it ever reads.
type Planner[S any] struct {
	Situations map[string]*S
	// Describe tells everything that the plan for a snapshot says.
	Describe func(*S) string
}

// CheckLists checks each object of a list in each situation.
func CheckLists[S, T any](t *testing.T, reads Reads, p Planner[S], of Plan[T], list func(*S) *[]*T) {
	t.Helper()
	for name, s := range p.Situations {
		of.CheckEach(t, reads, name, *list(s), func(changed []*T) string {
			with := *s
			*list(&with) = changed
			return p.Describe(&with)
		})
	}
}

// CheckWorkloads checks the workload of each situation: see checkWorkload.
func CheckWorkloads[S, T any](t *testing.T, p Planner[S], deepCopy func(*T) *T, workload func(*S) **T) {
	t.Helper()
	for _, s := range p.Situations {
		checkWorkload(t, *workload(s), deepCopy, func(changed *T) string {
			with := *s
			*workload(&with) = changed
			return p.Describe(&with)
		})
	}
}

// Concerned tells whether a change enqueues what has a name: whether it is one of declared fields, and concern enqueues that.
func Concerned[T any, O interface {
	*T
	metav1.Object
}](name string, fields controller.Fields, concern func(before, after O, enqueue controller.Enqueue)) func(before, after *T) bool {
	return func(before, after *T) (enqueued bool) {
		if controller.Changed(O(before), O(after), fields) != 0 {
			concern(before, after, func(key types.NamespacedName) { enqueued = enqueued || key.Name == name })
		}
		return enqueued
	}
}

// Event is that an object comes, changes or goes, and the keys of what it enqueues, in alphabetical order.
type Event[O any] struct {
	name, enqueues string
	before, after  O
}

// On is an event. There is nothing before one that comes, and nothing after one that goes.
func On[O any](name string, before, after O, enqueues string) Event[O] {
	return Event[O]{name: name, before: before, after: after, enqueues: enqueues}
}

// CheckEvents checks what concern enqueues for each of several events.
func CheckEvents[O any](t *testing.T, concern func(before, after O, enqueue controller.Enqueue), events ...Event[O]) {
	t.Helper()
	for _, e := range events {
		var keys []string
		concern(e.before, e.after, func(key types.NamespacedName) { keys = append(keys, strings.TrimPrefix(key.String(), "/")) })
		slices.Sort(keys)
		if got := strings.Join(keys, " "); got != e.enqueues {
			t.Errorf("%s: %q are enqueued, want %q", e.name, got, e.enqueues)
		}
	}
}
