// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// Record is what has been stored, of all kinds of objects. Each watch tells its own part; the versions of all objects are one
// sequence, which puts the parts together.
type Record struct {
	mu      sync.Mutex
	entries []entry // not yet judged
	judge   *Judge
	wrong   []string
	lines   []string // one for each change of a pod, a budget or a workload
	changes int
	gaps    int
	unseen  []unseen
}

// unseen is a time, by versions, in which a controller has changed the spec of a workload or deleted it, and when was not seen.
type unseen struct {
	of       types.UID
	from, to uint64
}

// entry is a change at a version. Those of one gap have the same one.
type entry struct {
	version uint64
	gap     bool
	at      time.Time
	change  Change
}

// NewRecord returns one of nothing yet. Strangers are as those of NewJudge.
func NewRecord(strangers ...types.UID) *Record {
	return &Record{judge: NewJudge(strangers...)}
}

// Add takes note of a change that the API server has stored at a resource version. A gap lumps several together, see [Judge.See].
func (r *Record) Add(version string, gap bool, change Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		r.wrong = append(r.wrong, fmt.Sprintf("resourceVersion %q: %v", version, err))
	}
	r.changes++
	if text := tell(change); text != "" {
		r.line(version, gap, text)
	}
	if gap && change.Old != nil && metav1.GetControllerOfNoCopy(change.Old) != nil && (change.New == nil || change.Old.GetGeneration() != change.New.GetGeneration()) {
		from, _ := strconv.ParseUint(change.Old.GetResourceVersion(), 10, 64) // which was parsed when it came
		r.unseen = append(r.unseen, unseen{change.Old.GetUID(), from, n})
	}
	r.entries = append(r.entries, entry{version: n, gap: gap, at: time.Now(), change: change})
}

// blind are the workloads whose specs are not known at a version.
func (r *Record) blind(version uint64) map[types.UID]bool {
	all := map[types.UID]bool{}
	for _, u := range r.unseen {
		if version > u.from && version <= u.to {
			all[u.of] = true
		}
	}
	return all
}

// tell says in a line what became of a pod, a budget or a workload; empty for what readers need not know.
func tell(change Change) string {
	if pod, is := change.Old.(*corev1.Pod); is && change.New == nil {
		return podstate.Describe(pod, true)
	}
	switch object := change.New.(type) {
	case *corev1.Pod:
		return podstate.Describe(object, false)
	case *availabilityv1alpha1.PodUnavailableBudget:
		s := &object.Status
		return fmt.Sprintf("budget %s: %d of %d available, %d desired, %d allowed, disrupted %v, updated %v", object.Name,
			s.CurrentAvailable, s.TotalReplicas, s.DesiredAvailable, s.UnavailableAllowed, s.DisruptedPods, s.UnavailablePods)
	case *v1alpha1.CloneSet:
		return fmt.Sprintf("CloneSet %s: generation %d of %d, %d replicas, partition %v, %s, current %s, update %s", object.Name, object.Status.ObservedGeneration,
			object.Generation, *object.Spec.Replicas, object.Spec.UpdateStrategy.Partition, images(object.Spec.Template.Spec), object.Status.CurrentRevision, object.Status.UpdateRevision)
	case *v1alpha1.UnitedDeployment:
		return fmt.Sprintf("UnitedDeployment %s: generation %d of %d, %d replicas, %s, subsets %v", object.Name, object.Status.ObservedGeneration,
			object.Generation, *object.Spec.Replicas, images(unitedPods(object).Spec), object.Status.SubsetReplicas)
	case *distributionv1alpha1.WorkloadSpread:
		return fmt.Sprintf("WorkloadSpread %s: generation %d of %d, %+v", object.Name, object.Status.ObservedGeneration, object.Generation, object.Status.SubsetStatuses)
	case *distributionv1alpha1.PersistentPodState:
		return fmt.Sprintf("PersistentPodState %s: generation %d of %d, %+v", object.Name, object.Status.ObservedGeneration, object.Generation, object.Status.PodStates)
	case *v1beta1.StatefulSet:
		return fmt.Sprintf("StatefulSet %s: generation %d of %d, %d replicas, %s, current %s, update %s", object.Name, object.Status.ObservedGeneration,
			object.Generation, *object.Spec.Replicas, images(object.Spec.Template.Spec), object.Status.CurrentRevision, object.Status.UpdateRevision)
	}
	return ""
}

// Observe returns what adds the changes of one kind of objects to a record: it is told them by a mirror.
func Observe[T metav1.Object](r *Record) mirror.Observer[T] {
	return func(_ map[types.UID]T, old, new *T, version string, gap bool) {
		var change Change
		if old != nil {
			change.Old = *old
		}
		if new != nil {
			change.New = *new
		}
		r.Add(version, gap, change)
	}
}

func (r *Record) line(version string, gap bool, text string) {
	if gap {
		text += " (in a list)"
	}
	r.lines = append(r.lines, fmt.Sprintf("%s version %s %s", time.Now().Format("15:04:05.000"), version, text))
}

// Seen returns how many changes there have been.
func (r *Record) Seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changes
}

// Last returns lines about the last changes of pods, budgets and workloads.
func (r *Record) Last(n int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines[max(0, len(r.lines)-n):])
}

// Summary says how much has been judged.
func (r *Record) Summary() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%d changes judged, %d gaps", r.changes, r.gaps)
}

// Review judges all changes up to now, in their order, and returns what is wrong with all that have been judged.
func (r *Record) Review() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.entries, func(a, b entry) int { return cmp.Compare(a.version, b.version) })
	for len(r.entries) > 0 {
		first, n := r.entries[0], 1
		for first.gap && n < len(r.entries) && r.entries[n].gap && r.entries[n].version == first.version {
			n++
		}
		var changes []Change
		for _, e := range r.entries[:n] {
			changes = append(changes, e.change)
		}
		if first.gap {
			r.gaps++
		}
		r.judge.blind = r.blind(first.version)
		for _, violation := range r.judge.See(changes, first.gap) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s version %d: %s", first.at.Format("15:04:05.000"), first.version, violation))
		}
		r.entries = r.entries[n:]
	}
	return slices.Clone(r.wrong)
}

// Runs is that of the judge, of what has been judged.
func (r *Record) Runs(uid types.UID) (runs, lost []time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.judge.Runs(uid)
}

// Settled says that what has been judged is settled, and has that judged too.
func (r *Record) Settled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, violation := range r.judge.Settled() {
		r.wrong = append(r.wrong, "settled: "+violation.String())
	}
}
