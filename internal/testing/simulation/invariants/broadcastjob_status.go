// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatus judges what is written about a job: of results and of its end. (BJ-2, BJ-9 to BJ-13, BJ-19, BJ-20)
func (j *jobJudge) checkStatus() {
	_, after, seen, judged := statusWrite[*v1alpha1.BroadcastJob](j.violations, j.Write)
	if !judged {
		return
	}
	j.compareGeneration(after.Status.ObservedGeneration, seen.Generation)
	j.checkCounts(&after.Status)
	// If less is left than the status counts, it is written before pods are created.
	left := among(maps.Values(j.Observed.Pods), func(pod *corev1.Pod) bool { return j.active(pod) && takes(j.Observed.Nodes[nodeOf(pod)], &pod.Spec) })
	first := int(seen.Status.Active)+len(seen.Status.NodeResults) > len(after.Status.NodeResults)+len(left)
	most := j.mostActive()
	j.never(int(after.Status.Active) > most && !first, Status, "active is %d, and %d pods are or were", after.Status.Active, most)
	if over(seen) {
		was, is := &seen.Status, &after.Status
		j.never(!maps.Equal(was.NodeResults, is.NodeResults) || was.Phase != is.Phase || !was.CompletionTime.Equal(is.CompletionTime), Status,
			"the status of a job changes that is over")
		return
	}
	fails := after.Status.Phase == v1alpha1.PhaseFailed
	j.checkResults(&seen.Status, &after.Status, fails)
	switch was, is := seen.Status.Phase, after.Status.Phase; {
	case was == is:
	case fails:
		j.checkFailed(seen, after)
	case is == v1alpha1.PhaseCompleted:
		j.checkCompleted(after)
	}
}

// mostActive counts the pods that were active when the author looked, or that it knows.
func (j *jobJudge) mostActive() int {
	names := map[string]bool{}
	for _, s := range []*State{j.Known, j.Observed} {
		for _, pod := range among(maps.Values(s.Pods), j.active) {
			names[pod.Name] = true
		}
	}
	return len(names)
}

// checkCounts: succeeded and failed count the results. (BJ-19)
func (j *jobJudge) checkCounts(status *v1alpha1.BroadcastJobStatus) {
	want := *status
	want.Succeeded, want.Failed = 0, 0
	for _, result := range status.NodeResults {
		count(&want.Succeeded, result == v1alpha1.NodeSucceeded)
		count(&want.Failed, result == v1alpha1.NodeFailed)
	}
	j.compare(status, &want)
}

// seenResult is how the job's pods on a node have ended, as the author saw them. (BJ-22)
func (j *jobJudge) seenResult(s *State, node string) (result v1alpha1.BroadcastJobNodeResult, runs bool) {
	for _, pod := range j.on(s, node) {
		switch r := j.result(pod); {
		case j.former(pod, s):
		case r == v1alpha1.NodeSucceeded, r != "" && result == "":
			result = r
		case r == "" && pod.DeletionTimestamp == nil:
			runs = true
		}
	}
	return result, runs
}

// checkResults: a result that was seen stands, and none is made up. (BJ-9, BJ-11, BJ-15, BJ-19)
func (j *jobJudge) checkResults(was, is *v1alpha1.BroadcastJobStatus, fails bool) {
	names := maps.Clone(is.NodeResults)
	if names == nil {
		names = map[string]v1alpha1.BroadcastJobNodeResult{}
	}
	maps.Copy(names, was.NodeResults)
	for _, pod := range j.Observed.Pods {
		if j.owned(pod) && nodeOf(pod) != "" {
			names[nodeOf(pod)] = ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		result, runs := j.seenResult(j.Observed, name)
		old, got := was.NodeResults[name], is.NodeResults[name]
		leaves := !j.always() && j.Observed.Nodes[name] == nil
		forgotten := slices.ContainsFunc(j.on(j.Observed, name), func(pod *corev1.Pod) bool { return j.former(pod, j.Observed) }) ||
			j.job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause && old == v1alpha1.NodeFailed
		switch {
		case result != "" && got != result && !(fails && runs):
			j.add(Status, "node %s has %q, its pod has %s", name, got, result)
		case result != "":
		case old != "" && got == "" && !leaves && !forgotten && !runs:
			j.add(Status, "node %s had %s, and has nothing", name, old)
		case old == "" && got != "" && !(fails && runs && got == v1alpha1.NodeFailed):
			j.add(Status, "node %s gets %s, and no pod of it has ended", name, got)
		case old != "" && got != "" && old != got && !(fails && runs):
			j.add(Status, "node %s had %s, and has %s", name, old, got)
		}
	}
}

// checkFailed: a job fails for a pod that did, if its policy says so, or at its deadline. (BJ-8 to BJ-10)
func (j *jobJudge) checkFailed(seen, after *v1alpha1.BroadcastJob) {
	policy, failed := j.job.Spec.FailurePolicy.Type, seen.Status.Failed > 0
	for _, pod := range j.Observed.Pods {
		failed = failed || j.owned(pod) && j.result(pod) == v1alpha1.NodeFailed
	}
	late := j.always() && expired(after.Status.StartTime, j.job.Spec.CompletionPolicy.ActiveDeadlineSeconds, j.Known.Now)
	switch {
	case j.job.Spec.Paused:
		j.add(Paused, "the job fails, and is paused")
	case late, failed && (policy == v1alpha1.FailurePolicyTypeFailFast || policy == ""):
	default:
		j.add(Status, "the job fails, failurePolicy %q, a pod has failed: %t, the deadline is over: %t", policy, failed, late)
	}
}

// checkCompleted: a job is complete when every node that takes its pod has a result. (BJ-13, BJ-15)
func (j *jobJudge) checkCompleted(after *v1alpha1.BroadcastJob) {
	j.never(!j.always(), Status, "a job is completed that never ends")
	for name, node := range j.Observed.Nodes {
		if after.Status.NodeResults[name] != "" {
			continue
		}
		if _, runs := j.seenResult(j.Observed, name); runs || takes(node, &j.job.Spec.Template.Spec) {
			j.add(Status, "the job is completed, and node %s has no result, a pod runs there: %t", name, runs)
		}
	}
	j.never(len(after.Status.NodeResults) == 0, Status, "the job is completed without a result")
}

// BroadcastJobSettled judges a job that has settled: its pods have ended that could, and what policies refuse is in the
// state. Nothing that can go on stands still. With pushed, users have taken back what holds it up, and nothing is
// refused. Then every node that takes its pod has a result, or the job has failed.
func BroadcastJobSettled(s *State, pushed bool) []Violation {
	var v violations
	job, ok := s.Workload.(*v1alpha1.BroadcastJob)
	if !ok || job.DeletionTimestamp != nil {
		return nil
	}
	j := newJobJudge(&v, &Write{Known: s, Truth: s, Observed: s}, job)
	status := &job.Status
	v.compareGeneration(status.ObservedGeneration, job.Generation)
	j.checkCounts(status)
	n := j.countActive(s)
	v.never(!over(job) && int(status.Active) != n, Status, "active is %d, and %d pods are", status.Active, n)
	most, readable := j.parallelism(s)
	switch {
	case over(job):
		j.checkOver(s)
	case status.Phase == v1alpha1.PhaseFailed:
	case job.Spec.Paused || status.Phase == v1alpha1.PhasePaused && job.Spec.FailurePolicy.Type == v1alpha1.FailurePolicyTypePause && status.Failed > 0:
		v.never(status.Phase != v1alpha1.PhasePaused, Settled, "the job is to pause, and its phase is %s", status.Phase)
	case status.Phase != v1alpha1.PhaseRunning:
		v.add(Settled, "the job has phase %q, nothing says why", status.Phase)
	default:
		j.checkRunning(s, readable && n < most)
		j.checkSaysDead(s)
	}
	if pushed && !over(job) && (j.always() || status.Phase != v1alpha1.PhaseRunning && status.Phase != v1alpha1.PhaseFailed) {
		takers := anyOf(maps.Values(s.Nodes), func(n *corev1.Node) bool { return takes(n, &job.Spec.Template.Spec) })
		v.never(takers || len(status.NodeResults) > 0, Settled,
			"nothing holds up the job, and its phase is %s, with %d results on %d nodes", status.Phase, len(status.NodeResults), len(s.Nodes))
	}
	return v
}

// checkOver: a job that is over has no pods that restart too often, and none that run if it has failed. The job goes
// when its time has come. (BJ-11, BJ-14)
func (j *jobJudge) checkOver(s *State) {
	if ttl, end := j.job.Spec.CompletionPolicy.TTLSecondsAfterFinished, j.job.Status.CompletionTime; expired(end, ttl, s.Now.Add(-time.Minute)) {
		j.add(Settled, "the job is over since %v, and is there, ttlSecondsAfterFinished %d", end, *ttl)
	}
	for _, pod := range s.Pods {
		if !j.owned(pod) || pod.DeletionTimestamp != nil || s.refuses("delete", "pods") {
			continue
		}
		j.never(j.active(pod) && j.job.Status.Phase == v1alpha1.PhaseFailed || j.result(pod) == v1alpha1.NodeFailed && !ended(pod), Settled,
			"the job is over, and pod %s goes on", pod.Name)
	}
}

// checkRunning: every node that takes a pod has one, or a result, while more may be active. No pod is on a node that
// does not take it. The job ends when it can. (BJ-7, BJ-10, BJ-12, BJ-13, BJ-19)
func (j *jobJudge) checkRunning(s *State, more bool) {
	status := &j.job.Status
	missing := 0
	for name, node := range s.Nodes {
		result, runs := j.seenResult(s, name)
		j.never(result != "" && status.NodeResults[name] != result, Status,
			"node %s has %q, its pod has %s", name, status.NodeResults[name], result)
		if status.NodeResults[name] == "" && takes(node, &j.job.Spec.Template.Spec) {
			missing++
			j.never(!runs && len(j.on(s, name)) == 0 && more && !s.refuses("create", "pods") && !s.refuses("delete", "pods"), Placement,
				"node %s has neither a pod nor a result", name)
		}
	}
	running := 0
	for _, pod := range s.Pods {
		if !j.owned(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		node := s.Nodes[nodeOf(pod)]
		count(&running, j.active(pod))
		leaves := j.former(pod, s) || !takes(node, &pod.Spec) && (node != nil || j.active(pod))
		j.never(leaves && nodeOf(pod) != "" && !s.refuses("delete", "pods"), Placement,
			"pod %s is left on node %s, which does not take it", pod.Name, nodeOf(pod))
	}
	j.never(j.always() && missing == 0 && running == 0 && len(status.NodeResults) > 0, Settled,
		"every node has a result, and the job is not over")
	if d := j.job.Spec.CompletionPolicy.ActiveDeadlineSeconds; j.always() && d != nil && status.StartTime != nil &&
		status.StartTime.Add(time.Duration(*d)*time.Second).Before(s.Now.Add(-time.Minute)) {
		j.add(Settled, "the deadline is over since a minute")
	}
}

// checkSaysDead: a job that waits for pods on dead nodes names the nodes. Of those that terminate another condition tells. (BJ-28, BJ-31)
func (j *jobJudge) checkSaysDead(s *State) {
	waits := among(maps.Values(s.Pods), func(pod *corev1.Pod) bool { return j.active(pod) && j.job.Status.NodeResults[nodeOf(pod)] == "" })
	checkDead(j.violations, s, waits, &j.job.Status, nodeOf)
}
