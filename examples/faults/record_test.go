package faults

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/podwright/podwright/examples/faults/invariants"
	"github.com/podwright/podwright/examples/testbed"
)

// record is what has been stored, of all kinds of objects. Each watch tells its own part; the versions of all objects are one
// sequence, which puts the parts together.
type record struct {
	mu      sync.Mutex
	entries []entry // not yet judged
	judge   *invariants.Judge
	wrong   []string
	lines   []string // one for each change of a pod
	changes int
	gaps    int
}

// entry is a change at a version. Those of one gap have the same one.
type entry struct {
	version uint64
	gap     bool
	at      time.Time
	change  invariants.Change
}

func newRecord(strangers ...types.UID) *record {
	return &record{judge: invariants.NewJudge(strangers...)}
}

// add takes note of a change.
func (r *record) add(version string, gap bool, change invariants.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		r.wrong = append(r.wrong, fmt.Sprintf("resourceVersion %q: %v", version, err))
	}
	r.changes++
	if pod, is := change.New.(*corev1.Pod); is {
		r.line(version, gap, testbed.Describe(pod, false))
	} else if pod, is := change.Old.(*corev1.Pod); is {
		r.line(version, gap, testbed.Describe(pod, true))
	}
	r.entries = append(r.entries, entry{version: n, gap: gap, at: time.Now(), change: change})
}

func (r *record) line(version string, gap bool, text string) {
	if gap {
		text += " (in a list)"
	}
	r.lines = append(r.lines, fmt.Sprintf("%s version %s %s", time.Now().Format("15:04:05.000"), version, text))
}

// seen returns how many changes there have been.
func (r *record) seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

// last returns lines about the last changes of pods.
func (r *record) last(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(testbed.Last(r.lines, n))
}

func (r *record) summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d changes judged, %d gaps", r.changes, r.gaps)
}

// review judges all changes up to now, in their order, and returns what is wrong with all that have been judged.
func (r *record) review() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.entries, func(a, b entry) int { return cmp.Compare(a.version, b.version) })
	for len(r.entries) > 0 {
		first, n := r.entries[0], 1
		for first.gap && n < len(r.entries) && r.entries[n].gap && r.entries[n].version == first.version {
			n++
		}
		var changes []invariants.Change
		for _, e := range r.entries[:n] {
			changes = append(changes, e.change)
		}
		if first.gap {
			r.gaps++
		}
		for _, violation := range r.judge.See(changes, first.gap) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s version %d: %s", first.at.Format("15:04:05.000"), first.version, violation))
		}
		r.entries = r.entries[n:]
	}
	return slices.Clone(r.wrong)
}

// settled says that what has been judged is at rest, and has that judged too.
func (r *record) settled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, violation := range r.judge.Settled() {
		r.wrong = append(r.wrong, "at rest: "+violation.String())
	}
}

// follow mirrors the objects of a kind into the record. What comes of a list lumps together what has happened since the watch.
func follow[T metav1.Object](s *testbed.Scene, r *record, from testbed.Source) *testbed.Mirror[T] {
	listing := false // lists, watches and changes have one goroutine
	noting := testbed.Source{
		List: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			listing = true
			return from.List(ctx, o)
		},
		Watch: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			listing = false
			return from.Watch(ctx, o)
		},
	}
	return testbed.Follow(s, noting, func(_ map[types.UID]T, old, new *T, version string) {
		var change invariants.Change
		if old != nil {
			change.Old = *old
		}
		if new != nil {
			change.New = *new
		}
		r.add(version, listing, change)
	})
}
