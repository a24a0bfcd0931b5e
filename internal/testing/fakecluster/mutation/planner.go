// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
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

// What the API lets any user change: of the metadata of any object, beside its
// owners, and of pods, beside their metadata.
const (
	Metadata = `^\.ObjectMeta\.(ResourceVersion|Generation|Deletion|Labels|Annotations|Finalizers|ManagedFields)`
	OfPods   = `^\.Spec\.(NodeName|ActiveDeadlineSeconds|Tolerations|TerminationGracePeriodSeconds|SchedulingGates)` +
		`|^\.Spec\.(Init)?Containers\[\]\.(Image$|Resources)|^\.Status`
)

// Declared tells whether a change is one of declared fields.
func Declared[T any](fields controller.Fields) func(before, after *T) bool {
	return func(before, after *T) bool { return controller.Changed(object(before), object(after), fields) != 0 }
}

func object[T any](o *T) metav1.Object { return any(o).(metav1.Object) }

// checkWorkload checks that every change of a workload matters that changes its plan, which of describes. It also
// checks that a change of the status alone is known as one.
func checkWorkload[T any](t *testing.T, workload *T, deepCopy func(*T) *T, of func(*T) string) {
	t.Helper()
	Plan[T]{
		Copy: deepCopy, Of: of, Can: regexp.MustCompile(strings.Replace(Metadata, "ResourceVersion|", "", 1)),
		Matters: Declared[T](controller.Workload &^ controller.Status),
	}.Check(t, Reads{}, workload)
	for _, m := range Of(workload) {
		if !strings.HasPrefix(m.Path, ".Status") {
			continue
		}
		after := deepCopy(workload)
		m.Apply(after)
		object(after).SetResourceVersion(object(workload).GetResourceVersion() + "0")
		if controller.Changed(object(workload), object(after), controller.Workload) != controller.Status {
			t.Errorf("a change of %s alone is taken for more than one of the status", m.Path)
		}
	}
}

// CheckNodes checks that each change of a node that changes a plan is one of declared fields. of describes the plan for
// the changed nodes. CheckNodes also checks that what heartbeats write changes no plan.
func CheckNodes(t *testing.T, reads Reads, nodes []*corev1.Node, declared controller.Fields, of func([]*corev1.Node) string) {
	t.Helper()
	Plan[corev1.Node]{
		Copy: (*corev1.Node).DeepCopy, Can: regexp.MustCompile(Metadata + `|^\.(Spec|Status)`), Matters: Declared[corev1.Node](declared),
	}.CheckEach(t, reads, "nodes", nodes, of)
	for _, unread := range []string{".Status.Conditions", ".Status.Images", ".ObjectMeta.Annotations[new]", ".Status.Capacity[new]"} {
		if reads[unread] {
			t.Errorf("%s is read: heartbeats write it", unread)
		}
	}
}
