// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// BroadcastJobSettled judges a job that has settled: its pods have ended that could, and
// what policies refuse is in the state. Nothing that can go on stands still. With pushed,
// users have taken back what holds it up, and nothing is refused. Then every node that
// takes its pod has a result, or the job has failed.
func BroadcastJobSettled(s *State, pushed bool) []Violation {
	var v violations
	job, ok := s.Workload.(*v1alpha1.BroadcastJob)
	if !ok || job.DeletionTimestamp != nil {
		return nil
	}
	j := newJobJudge(&v, &Write{Known: s, Truth: s, Observed: s}, job)
	status := &job.Status
	if status.ObservedGeneration != job.Generation {
		v.add(Status, "observedGeneration is %d, the generation %d", status.ObservedGeneration, job.Generation)
	}
	j.checkCounts(status)
	if n := j.countActive(s); !over(job) && int(status.Active) != n {
		v.add(Status, "active is %d, and %d pods are", status.Active, n)
	}
	most, readable := j.parallelism(s)
	switch {
	case over(job):
		j.checkOver(s)
	case status.Phase == v1alpha1.PhaseFailed:
	case job.Spec.Paused || status.Phase == v1alpha1.PhasePaused && job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause && status.Failed > 0:
		if status.Phase != v1alpha1.PhasePaused {
			v.add(Settled, "the job is to pause, and its phase is %s", status.Phase)
		}
	case status.Phase != v1alpha1.PhaseRunning:
		v.add(Settled, "the job has phase %q, nothing says why", status.Phase)
	default:
		j.checkRunning(s, readable && j.countActive(s) < most)
		j.checkSaysDead(s)
	}
	if pushed && !over(job) && (j.always() || status.Phase != v1alpha1.PhaseRunning && status.Phase != v1alpha1.PhaseFailed) {
		if n := slices.ContainsFunc(slices.Collect(maps.Values(s.Nodes)), func(n *corev1.Node) bool { return takes(n, &job.Spec.Template.Spec) }); n || len(status.NodeResults) > 0 {
			v.add(Settled, "nothing holds up the job, and its phase is %s, with %d results on %d nodes", status.Phase, len(status.NodeResults), len(s.Nodes))
		}
	}
	return v
}

// checkOver: a job that is over has no pods that restart too often, and none that run if it has failed. The job goes
// when its time has come. (BJ-11, BJ-14)
func (j *jobJudge) checkOver(s *State) {
	if ttl, end := j.job.Spec.CompletionPolicy.TTLSecondsAfterFinished, j.job.Status.CompletionTime; ttl != nil && end != nil &&
		end.Add(time.Duration(*ttl)*time.Second).Before(s.Now.Add(-time.Minute)) {
		j.add(Settled, "the job is over since %v, and is there, ttlSecondsAfterFinished %d", end, *ttl)
	}
	for _, pod := range s.Pods {
		if !j.owned(pod) || pod.DeletionTimestamp != nil || s.refuses("delete", "pods") {
			continue
		}
		if j.active(pod) && j.job.Status.Phase == v1alpha1.PhaseFailed || j.result(pod) == v1alpha1.NodeFailed && !ended(pod) {
			j.add(Settled, "the job is over, and pod %s goes on", pod.Name)
		}
	}
}

// checkRunning: every node that takes a pod has one, or a result, while more may be active. No pod is on a node that
// does not take it. The job ends when it can. (BJ-7, BJ-10, BJ-12, BJ-13, BJ-19)
func (j *jobJudge) checkRunning(s *State, more bool) {
	status := &j.job.Status
	missing := 0
	for name, node := range s.Nodes {
		result, runs := j.seenResult(s, name)
		if result != "" && status.NodeResults[name] != result {
			j.add(Status, "node %s has %q, its pod has %s", name, status.NodeResults[name], result)
		}
		if status.NodeResults[name] == "" && takes(node, &j.job.Spec.Template.Spec) {
			missing++
			if !runs && len(j.on(s, name)) == 0 && more && !s.refuses("create", "pods") && !s.refuses("delete", "pods") {
				j.add(Placement, "node %s has neither a pod nor a result", name)
			}
		}
	}
	running := 0
	for _, pod := range s.Pods {
		if !j.owned(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		node := s.Nodes[nodeOf(pod)]
		if j.active(pod) {
			running++
		}
		if (j.former(pod, s) || !takes(node, &pod.Spec) && (node != nil || j.active(pod))) && nodeOf(pod) != "" && !s.refuses("delete", "pods") {
			j.add(Placement, "pod %s is left on node %s, which does not take it", pod.Name, nodeOf(pod))
		}
	}
	if j.always() && missing == 0 && running == 0 && len(status.NodeResults) > 0 {
		j.add(Settled, "every node has a result, and the job is not over")
	}
	if d := j.job.Spec.CompletionPolicy.ActiveDeadlineSeconds; j.always() && d != nil && status.StartTime != nil &&
		status.StartTime.Add(time.Duration(*d)*time.Second).Before(s.Now.Add(-time.Minute)) {
		j.add(Settled, "the deadline is over since a minute")
	}
}

// checkSaysDead: a job that waits for pods on dead nodes names the nodes. Of those that terminate another condition tells. (BJ-28, BJ-31)
func (j *jobJudge) checkSaysDead(s *State) {
	var waits []*corev1.Pod
	for _, pod := range s.Pods {
		if j.owned(pod) && pod.DeletionTimestamp == nil && j.active(pod) && j.job.Status.NodeResults[nodeOf(pod)] == "" {
			waits = append(waits, pod)
		}
	}
	var conditions []told
	for _, c := range j.job.Status.Conditions {
		conditions = append(conditions, told{string(c.Type), c.Message})
	}
	checkDead(j.violations, s, waits, conditions, nodeOf)
}
