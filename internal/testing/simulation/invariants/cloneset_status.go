// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatus: what the status says is the case in the eyes of its author, if the write says anything of it.
func (j *cloneSetJudge) checkStatus() {
	before, after, seen, judged := statusWrite[*v1alpha1.CloneSet](j.violations, j.Write)
	if !judged {
		return
	}
	if !j.limits.broken && j.set.DeletionTimestamp == nil {
		j.checkConsumers(&after.Status)
		j.checkReason(&after.Status)
	}
	if sameFacts(before.Status, after.Status) {
		return
	}
	j.checkObserved(&seen.Status, &after.Status, seen.Generation)
	if !j.limits.broken && j.set.DeletionTimestamp == nil {
		j.checkFacts(&after.Status, j.withCreated())
		j.checkCurrent(&seen.Status, &after.Status)
	}
}

func (j *cloneSetJudge) checkFacts(status *v1alpha1.CloneSetStatus, of *State) {
	// A revision that is created in the same reconcile is named before it is observed.
	if is := shortHash(status.UpdateRevision); is != j.update {
		j.add(Status, "updateRevision is %q, the template is that of %q", status.UpdateRevision, j.update)
		return
	}
	if selector, err := metav1.LabelSelectorAsSelector(j.set.Spec.Selector); err != nil || selector.String() != status.LabelSelector {
		j.add(Status, "labelSelector is %q, the selector %q", status.LabelSelector, selector)
	}
	want := v1alpha1.CloneSetStatus{ExpectedUpdatedReplicas: int32(j.limits.replicas - j.limits.partition)}
	for _, pod := range of.Pods {
		if !j.owned(pod) || !active(pod) {
			continue
		}
		isUpdated, isReady, isAvailable := !j.old(pod), inService(pod), available(pod, j.set.Spec.MinReadySeconds, of.Now)
		want.Replicas++
		count(&want.ReadyReplicas, isReady)
		count(&want.AvailableReplicas, isAvailable)
		count(&want.UpdatedReplicas, isUpdated)
		count(&want.UpdatedReadyReplicas, isUpdated && isReady)
		count(&want.UpdatedAvailableReplicas, isUpdated && isAvailable)
	}
	j.compare(status, &want)
}

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
	j.never(after.ObservedGeneration != want, Status,
		"observedGeneration %d of a spec of generation %d, expected %d", after.ObservedGeneration, generation, want)
}

// checkConsumers: who goes by conditions waits as long as the numbers beside them say so. (CS-S5)
func (j *cloneSetJudge) checkConsumers(s *v1alpha1.CloneSetStatus) {
	told := consumersOf(s)
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
	case c != nil && (c.status == "False") != told.stalled:
		j.add(Status, "Progressing is %s, stalled %v", c.status, told.stalled)
	}
}

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

func counted(b, a *v1alpha1.CloneSetStatus) bool {
	return a.UpdatedReplicas > b.UpdatedReplicas || a.Replicas-a.UpdatedReplicas < b.Replicas-b.UpdatedReplicas || a.ReadyReplicas > b.ReadyReplicas ||
		a.AvailableReplicas > b.AvailableReplicas || a.UpdateRevision != b.UpdateRevision
}

// CloneSetProgress judges when a status says that the progress deadline is exceeded: not while there was progress within
// it. (CS-S4)
func (p *Past) CloneSetProgress(w *Write) []Violation {
	var v violations
	before, after := objects[*v1alpha1.CloneSet](w)
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
	if v.wrong(seen == nil || !deadline(seen), Status, "a deadline is exceeded that no spec has set") {
		return v
	}
	limit := time.Duration(*seen.Spec.ProgressDeadlineSeconds) * time.Second
	if since := w.Truth.Now.Sub(p.deadlines[after.UID]); since < limit-time.Second { // times are written in whole seconds
		v.add(Status, "the progress deadline of %v is exceeded, %v after the last progress", limit, since)
	}
	return v
}

func updates(set *v1alpha1.CloneSet) bool { return progressReason(set) == v1alpha1.CloneSetUpdated }

func exceeded(set *v1alpha1.CloneSet) bool {
	return progressReason(set) == v1alpha1.CloneSetProgressDeadlineExceeded
}

// progressReason is why an update is no further, empty if a status does not say.
func progressReason(set *v1alpha1.CloneSet) string {
	return ptr.Deref(conditionOf(&set.Status, v1alpha1.CloneSetConditionProgressing), told{}).reason
}

// checkDeadline: nothing is settled while a deadline runs. (CS-S4)
func (j *cloneSetJudge) checkDeadline() {
	switch reason := progressReason(j.set); reason {
	case "", v1alpha1.CloneSetAvailable, v1alpha1.CloneSetPaused, v1alpha1.CloneSetProgressDeadlineExceeded, v1alpha1.CloneSetProgressPartitionAvailable:
	default:
		j.add(Settled, "the progress deadline runs, for %s", reason)
	}
}
