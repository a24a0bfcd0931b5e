// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// withCreated is what the author observed, and the pods that it has created since, as far as it knows.
func (j *cloneSetJudge) withCreated() *State {
	s := *j.Observed
	s.Pods = maps.Clone(s.Pods)
	for name, pod := range j.Known.Pods {
		if seen := s.Pods[name]; (seen == nil || seen.UID != pod.UID) && !j.Known.Untold[name] {
			s.Pods[name] = pod
		}
	}
	return &s
}

// misleads tells whether a status counts fewer pods than are wanted, and its numbers alone look nevertheless like the
// end of an update. (CS-S3)
func (j *cloneSetJudge) misleads(s *v1alpha1.CloneSetStatus) bool {
	return int(s.Replicas) < j.limits.replicas &&
		(s.UpdatedAvailableReplicas == s.Replicas || j.limits.partition > 0 && int(s.UpdatedReplicas) >= j.limits.replicas-j.limits.partition)
}

// checkObserved: a generation is called observed, unless its status would mislead. (CS-S3)
func (j *cloneSetJudge) checkObserved(before, after *v1alpha1.CloneSetStatus, generation int64) {
	held := j.set.DeletionTimestamp == nil && !j.limits.broken && j.misleads(after) && before.ObservedGeneration != generation
	want := generation
	if held {
		want = before.ObservedGeneration
	}
	if after.ObservedGeneration != want {
		j.add(Status, "observedGeneration %d of a spec of generation %d, expected %d", after.ObservedGeneration, generation, want)
	}
}

// conditionOf is a condition of a status, nil if there is none.
func conditionOf(s *v1alpha1.CloneSetStatus, t v1alpha1.CloneSetConditionType) *v1alpha1.CloneSetCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == t {
			return &s.Conditions[i]
		}
	}
	return nil
}

// checkConsumers: who goes by conditions waits as long as the numbers beside them say so. (CS-S5)
func (j *cloneSetJudge) checkConsumers(s *v1alpha1.CloneSetStatus) {
	told := consumersOf(s.Conditions, func(c *v1alpha1.CloneSetCondition) (string, corev1.ConditionStatus) { return string(c.Type), c.Status })
	told.check(j.violations, s.ObservedGeneration)
	if s.UpdateRevision == "" || shortHash(s.UpdateRevision) != j.update || s.ObservedGeneration != j.set.Generation && !j.misleads(s) { // nothing was counted
		return
	}
	if held := int(s.Replicas - s.UpdatedReplicas); held < j.limits.partition && j.features.PartitionRollback {
		return // pods may go back
	}
	told.checkReached(j.violations, j.reached(s))
	c := conditionOf(s, v1alpha1.CloneSetConditionProgressing)
	switch {
	case (c != nil) != deadline(j.set):
		j.add(Status, "progressDeadlineSeconds %v, condition Progressing %+v", j.set.Spec.ProgressDeadlineSeconds, c)
	case c != nil && (c.Status == corev1.ConditionFalse) != told.stalled:
		j.add(Status, "Progressing is %s, stalled %v", c.Status, told.stalled)
	}
}

// reached tells whether a status says that the spec is reached.
func (j *cloneSetJudge) reached(s *v1alpha1.CloneSetStatus) bool {
	held := j.limits.partition
	if j.onDelete() {
		held = math.MaxInt32
	}
	return int(s.Replicas) == j.limits.replicas && int(s.AvailableReplicas) == j.limits.replicas && int(s.Replicas-s.UpdatedReplicas) <= held
}

func deadline(set *v1alpha1.CloneSet) bool {
	return ptr.Deref(set.Spec.ProgressDeadlineSeconds, math.MaxInt32) != math.MaxInt32
}

// deadlines is when the progress deadline of a CloneSet began anew at the latest. A status that counts progress begins
// it when its author looked at the pods, and what it counts is judged. Some changes of users begin it at their time.
type deadlines map[types.UID]time.Time

func (d deadlines) observe(c *Change) {
	after, _ := c.After.(*v1alpha1.CloneSet)
	before, _ := c.Before.(*v1alpha1.CloneSet)
	if after != nil && (before == nil || before.Spec.UpdateStrategy.Paused && !after.Spec.UpdateStrategy.Paused || !deadline(before) && deadline(after)) {
		d[after.UID] = c.At
	}
}

// counted tells whether a status counts progress since another one.
func counted(b, a *v1alpha1.CloneSetStatus) bool {
	return a.UpdatedReplicas > b.UpdatedReplicas || a.Replicas-a.UpdatedReplicas < b.Replicas-b.UpdatedReplicas || a.ReadyReplicas > b.ReadyReplicas ||
		a.AvailableReplicas > b.AvailableReplicas || a.UpdateRevision != b.UpdateRevision
}

// CloneSetProgress judges when a status says that the progress deadline is exceeded: not while there was progress within
// it. (CS-S4)
func (p *Past) CloneSetProgress(w *Write) []Violation {
	var v violations
	before, _ := w.Before.(*v1alpha1.CloneSet)
	after, _ := w.After.(*v1alpha1.CloneSet)
	if w.Observed == nil || before == nil || after == nil || before.UID != after.UID {
		return nil
	}
	if (counted(&before.Status, &after.Status) || updates(after) && !updates(before)) && w.Observed.Now.After(p.deadlines[after.UID]) {
		p.deadlines[after.UID] = w.Observed.Now
	}
	if exceeded(before) || !exceeded(after) {
		return nil
	}
	seen, _ := w.Observed.Workload.(*v1alpha1.CloneSet)
	if seen == nil || !deadline(seen) {
		v.add(Status, "a deadline is exceeded that no spec has set")
		return v
	}
	limit := time.Duration(*seen.Spec.ProgressDeadlineSeconds) * time.Second
	if since := w.Truth.Now.Sub(p.deadlines[after.UID]); since < limit-time.Second { // times are written in whole seconds
		v.add(Status, "the progress deadline of %v is exceeded, %v after the last progress", limit, since)
	}
	return v
}

// updates tells whether a status says that an update is under way.
func updates(set *v1alpha1.CloneSet) bool {
	c := conditionOf(&set.Status, v1alpha1.CloneSetConditionProgressing)
	return c != nil && c.Reason == v1alpha1.CloneSetUpdated
}

func exceeded(set *v1alpha1.CloneSet) bool {
	c := conditionOf(&set.Status, v1alpha1.CloneSetConditionProgressing)
	return c != nil && c.Reason == v1alpha1.CloneSetProgressDeadlineExceeded
}

// checkDeadline: nothing is settled while a deadline runs. (CS-S4)
func (j *cloneSetJudge) checkDeadline() {
	c := conditionOf(&j.set.Status, v1alpha1.CloneSetConditionProgressing)
	if c == nil {
		return
	}
	switch c.Reason {
	case v1alpha1.CloneSetAvailable, v1alpha1.CloneSetPaused, v1alpha1.CloneSetProgressDeadlineExceeded, v1alpha1.CloneSetProgressPartitionAvailable:
	default:
		j.add(Settled, "the progress deadline runs, for %s", c.Reason)
	}
}
