package invariants

import (
	"k8s.io/apimachinery/pkg/api/equality"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// preparesUpdate tells whether a pod waits for its hook before an update.
func preparesUpdate(pod *corev1.Pod) bool {
	return stateOf(pod) == lifecyclev1alpha1.StatePreparingUpdate
}

// checkStatus: the counters are those of the pods that the author saw, where
// the write says anything of them; the spec is the user's.
func (j *statefulSetJudge) checkStatus() {
	before, _ := j.Before.(*v1beta1.StatefulSet)
	after, _ := j.After.(*v1beta1.StatefulSet)
	seen, _ := j.Observed.Workload.(*v1beta1.StatefulSet)
	if before == nil || after == nil || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		j.add(Spec, "%s of the StatefulSet changes more than the status", j.Verb)
		return
	}
	if seen == nil || seen.UID != after.UID || j.countersOf(before) == j.countersOf(after) {
		return
	}
	if after.Status.ObservedGeneration != seen.Generation {
		j.add(Status, "observedGeneration %d of a spec of generation %d", after.Status.ObservedGeneration, seen.Generation)
	}
	if !j.broken {
		j.checkCounters(&after.Status, j.Observed)
	}
}

// countersOf leaves of a status what counts.
func (j *statefulSetJudge) countersOf(set *v1beta1.StatefulSet) [6]int64 {
	s := &set.Status
	return [6]int64{s.ObservedGeneration, int64(s.Replicas), int64(s.ReadyReplicas), int64(s.AvailableReplicas),
		int64(s.UpdatedReplicas), int64(s.UpdatedReadyReplicas)}
}

// checkCounters compares the counters with those of the pods of a state.
func (j *statefulSetJudge) checkCounters(status *v1beta1.StatefulSetStatus, of *State) {
	var replicas, isReady, isAvailable, updated, updatedReady int32
	for _, pod := range of.Pods {
		if !j.owned(pod) || j.ordinalOf(pod.Name) < 0 {
			continue
		}
		replicas++
		atUpdate := shortHash(pod.Labels[revisionLabel]) == shortHash(status.UpdateRevision)
		if atUpdate && pod.DeletionTimestamp == nil {
			updated++
		}
		if ready(pod) {
			isReady++
			if atUpdate {
				updatedReady++
			}
		}
		if readyFor(pod, j.minReadySeconds, of.Now) {
			isAvailable++
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

// StatefulSetAtRest judges a StatefulSet that has come to rest. With converged,
// it must be where its spec wants it: one available and updated pod for each
// wanted ordinal, with its claims, and no other.
func StatefulSetAtRest(s *State, converged bool) []Violation {
	var v violations
	set, ok := s.Workload.(*v1beta1.StatefulSet)
	if !ok {
		return nil
	}
	j := newStatefulSetJudge(&v, &Write{Known: s, Truth: s}, set)
	if set.Status.ObservedGeneration != set.Generation {
		v.add(Status, "observedGeneration is %d, the generation %d", set.Status.ObservedGeneration, set.Generation)
	}
	if j.broken {
		if len(set.Status.Conditions) == 0 {
			v.add(Status, "nobody can tell what the spec says, and no condition says so")
		}
		return v
	}
	j.checkCounters(&set.Status, s)
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling == nil || !rolling.Paused {
		checkPrepared(&v, s, j.owned)
	}
	if converged {
		j.checkConverged(s)
	}
	return v
}

func (j *statefulSetJudge) checkConverged(s *State) {
	for _, ordinal := range j.wanted {
		pod := j.at(ordinal)
		if !j.available(pod) || ordinal >= j.partition && !j.servesUpdated(pod) {
			j.add(Rest, "pod %d does not serve at revision %s", ordinal, j.update)
			continue
		}
		if pod.CreationTimestamp.Before(&j.set.CreationTimestamp) {
			continue // it was adopted, and its claims may have gone with a former set
		}
		for i := range j.set.Spec.VolumeClaimTemplates {
			name := j.set.Spec.VolumeClaimTemplates[i].Name + "-" + pod.Name
			if claim := s.Claims[name]; claim == nil || claim.DeletionTimestamp != nil {
				j.add(Claims, "pod %s is there, and claim %s is not", pod.Name, name)
			}
		}
	}
	if n := int(j.set.Status.Replicas); n != len(j.wanted) {
		j.add(Rest, "%d pods, wanted are %v", n, j.wanted)
	}
	for _, condition := range j.set.Status.Conditions {
		j.add(Status, "condition %s: %s", condition.Type, condition.Message)
	}
}
