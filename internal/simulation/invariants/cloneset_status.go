package invariants

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatus: the counters are those of the pods that the author saw, where
// the write says anything of them.
func (j *cloneSetJudge) checkStatus() {
	before, _ := j.Before.(*v1alpha1.CloneSet)
	after, _ := j.After.(*v1alpha1.CloneSet)
	seen, _ := j.Observed.Workload.(*v1alpha1.CloneSet)
	if before == nil || after == nil || seen == nil || seen.UID != after.UID || countersOf(before) == countersOf(after) {
		return
	}
	if after.Status.ObservedGeneration != seen.Generation {
		j.add(Status, "observedGeneration %d of a spec of generation %d", after.Status.ObservedGeneration, seen.Generation)
	}
	if !j.limits.broken {
		j.checkCounters(&after.Status, j.Observed)
	}
}

// countersOf leaves of a status what counts.
func countersOf(set *v1alpha1.CloneSet) [6]int64 {
	s := &set.Status
	return [6]int64{s.ObservedGeneration, int64(s.Replicas), int64(s.ReadyReplicas), int64(s.AvailableReplicas),
		int64(s.UpdatedReplicas), int64(s.UpdatedReadyReplicas)}
}

// checkCounters compares the counters with those of the pods of a state.
func (j *cloneSetJudge) checkCounters(status *v1alpha1.CloneSetStatus, of *State) {
	var replicas, isReady, isAvailable, updated, updatedReady int32
	for _, pod := range of.Pods {
		if !j.owned(pod) || !active(pod) {
			continue
		}
		replicas++
		r := readyNow(pod)
		isReady += r
		if available(pod, j.set.Spec.MinReadySeconds, of.Now) {
			isAvailable++
		}
		if shortHash(pod.Labels[revisionLabel]) == shortHash(status.UpdateRevision) {
			updated++
			updatedReady += r
		}
	}
	for _, c := range []counter{
		{"replicas", replicas, status.Replicas},
		{"readyReplicas", isReady, status.ReadyReplicas},
		{"availableReplicas", isAvailable, status.AvailableReplicas},
		{"updatedReplicas", updated, status.UpdatedReplicas},
		{"updatedReadyReplicas", updatedReady, status.UpdatedReadyReplicas},
	} {
		c.check(j.violations)
	}
}

// readyNow is 1 for a pod that is ready and not being updated, whatever its hooks.
func readyNow(pod *corev1.Pod) int32 {
	if ready(pod) && !updating(pod) {
		return 1
	}
	return 0
}

// CloneSetAtRest judges a CloneSet that has come to rest. With converged, it
// must be where its spec wants it: every pod available, and as many updated as
// the partition lets.
func CloneSetAtRest(s *State, converged bool) []Violation {
	var v violations
	set, ok := s.Workload.(*v1alpha1.CloneSet)
	if !ok {
		return nil
	}
	j := newCloneSetJudge(&v, &Write{Known: s, Truth: s}, set, CloneSetFeatures{})
	if set.Status.ObservedGeneration != set.Generation {
		v.add(Status, "observedGeneration is %d, the generation %d", set.Status.ObservedGeneration, set.Generation)
	}
	if j.limits.broken {
		if len(set.Status.Conditions) == 0 {
			v.add(Status, "nobody can tell what the spec says, and no condition says so")
		}
		return v
	}
	j.checkCounters(&set.Status, s)
	if !set.Spec.UpdateStrategy.Paused {
		checkPrepared(&v, s, j.owned)
	}
	if c := &j.counts; converged {
		if c.total != j.limits.replicas || c.available != j.limits.replicas || c.updated < j.limits.replicas-j.limits.partition {
			v.add(Rest, "%d pods, %d available, %d updated; replicas %d, partition %d",
				c.total, c.available, c.updated, j.limits.replicas, j.limits.partition)
		}
		for _, condition := range set.Status.Conditions {
			v.add(Status, "condition %s: %s", condition.Type, condition.Message)
		}
	}
	return v
}
