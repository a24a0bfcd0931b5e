// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// broadcastJob judges a write of the controller of BroadcastJobs. It must be known what its author knew.
func broadcastJob(w *Write) []Violation {
	var v violations
	checkPrecise(&v, w)
	job, ok := w.spec().(*v1alpha1.BroadcastJob)
	if !ok {
		return nil // it is gone, and nothing of it is touched but by the garbage collector
	}
	checkGraceful(&v, w)
	checkOwnership(&v, w, job.UID, func(_, _ Object) bool { return false })
	j := newJobJudge(&v, w, job)
	switch {
	case w.Resource == "broadcastjobs" && w.Verb == "delete":
		end := job.Status.CompletionTime // it goes when it has been over for as long as it says (BJ-14)
		v.never(!over(job) || !expired(end, job.Spec.CompletionPolicy.TTLSecondsAfterFinished, w.Known.Now), Needless,
			"deletes the job, which has phase %s since %v", job.Status.Phase, end)
	case w.Resource == "broadcastjobs":
		j.checkStatus()
	case w.Resource != "pods":
		v.add(Ownership, "%s of %s %s", w.Verb, w.Resource, w.name())
	case w.Before == nil:
		j.checkCreation()
	case w.Verb == "delete":
		j.checkDeletion()
	default:
		v.add(Needless, "%s of pod %s", w.Verb, w.name())
	}
	return v
}

type jobJudge struct {
	*violations
	*Write
	job *v1alpha1.BroadcastJob
}

func newJobJudge(v *violations, w *Write, job *v1alpha1.BroadcastJob) *jobJudge {
	return &jobJudge{violations: v, Write: w, job: job}
}

// always tells whether the job ends at some time. (BJ-2)
func (j *jobJudge) always() bool { return j.job.Spec.CompletionPolicy.Type != v1alpha1.Never }

// over tells whether a job has finished for good. (BJ-2)
func over(job *v1alpha1.BroadcastJob) bool {
	return job.Spec.CompletionPolicy.Type != v1alpha1.Never && slices.ContainsFunc(job.Status.Conditions, func(c v1alpha1.JobCondition) bool {
		return (c.Type == v1alpha1.JobComplete || c.Type == v1alpha1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// owned tells whether a pod is the job's. (BJ-21)
func (j *jobJudge) owned(pod *corev1.Pod) bool {
	return metav1.IsControlledBy(pod, j.job) && pod.Labels[v1alpha1.BroadcastJobNameLabel] == j.job.Name && pod.Labels[v1alpha1.BroadcastJobControllerUIDLabel] == string(j.job.UID)
}

// terminatesFor is how long after the end of its grace a pod may terminate before it counts as failed. (BJ-28)
const terminatesFor = 15 * time.Minute

// result is how a pod has ended, empty if it has not. (BJ-5, BJ-28)
func (j *jobJudge) result(pod *corev1.Pod) v1alpha1.BroadcastJobNodeResult {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return v1alpha1.NodeSucceeded
	case pod.DeletionTimestamp != nil:
		if j.always() && !j.Observed.Now.Before(pod.DeletionTimestamp.Add(terminatesFor)) {
			return v1alpha1.NodeFailed
		}
		return ""
	case pod.Status.Phase == corev1.PodFailed:
		return v1alpha1.NodeFailed
	}
	restarts := int32(0)
	for _, c := range pod.Status.ContainerStatuses {
		restarts += c.RestartCount
	}
	if pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure && restarts > j.job.Spec.FailurePolicy.RestartLimit {
		return v1alpha1.NodeFailed
	}
	return ""
}

// active tells whether a pod has still to end. (BJ-5)
func (j *jobJudge) active(pod *corev1.Pod) bool {
	return j.owned(pod) && pod.DeletionTimestamp == nil && j.result(pod) == ""
}

func (j *jobJudge) countActive(s *State) int { return len(among(maps.Values(s.Pods), j.active)) }

func (j *jobJudge) on(s *State, node string) []*corev1.Pod {
	return among(maps.Values(s.Pods), func(pod *corev1.Pod) bool { return j.owned(pod) && nodeOf(pod) == node })
}

// former tells whether a pod ran on another node of the name. (BJ-15)
func (j *jobJudge) former(pod *corev1.Pod, s *State) bool {
	node := s.Nodes[nodeOf(pod)]
	return !j.always() && node != nil && j.result(pod) != "" && pod.CreationTimestamp.Before(&node.CreationTimestamp)
}

// takes tells whether a node takes a pod. (BJ-6)
func takes(node *corev1.Node, spec *corev1.PodSpec) bool {
	return node != nil && scheduler.Takes(node, spec)
}

// parallelism is how many pods may be active at once; false if that is not known. (BJ-12)
func (j *jobJudge) parallelism(s *State) (int, bool) {
	value := j.job.Spec.Parallelism
	switch {
	case value == nil:
		return math.MaxInt32, true
	case value.Type == intstr.String && !strings.HasSuffix(value.StrVal, "%"):
		n, err := strconv.ParseInt(value.StrVal, 10, 32)
		return max(int(n), 0), err == nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, len(s.Nodes)+len(j.job.Status.NodeResults), true)
	return max(n, 0), err == nil
}

// checkCreation: a pod comes to a node that takes it, and that has no pod and no result. Fewer pods are active than may
// be, and the job goes on. (BJ-2, BJ-8, BJ-9, BJ-12, BJ-18, BJ-19)
func (j *jobJudge) checkCreation() {
	_, pod := j.pods()
	name, policy := nodeOf(pod), j.job.Spec.FailurePolicy.Type
	j.never(!j.owned(pod), Ownership, "creates pod %s, which is not the job's", pod.Name)
	j.never(!takes(j.Known.Nodes[name], &j.job.Spec.Template.Spec), Placement,
		"creates pod %s for node %q, which does not take it", pod.Name, name)
	for _, other := range j.on(j.Known, name) {
		j.add(Placement, "creates pod %s on node %s, which has pod %s", pod.Name, name, other.Name)
	}
	result := j.job.Status.NodeResults[name]
	again := result == v1alpha1.NodeFailed && policy == v1alpha1.FailurePolicyTypePause || !j.always() && j.Observed.Nodes[name] != nil
	j.never(result != "" && !again, Needless, "creates pod %s on node %s, which has %s", pod.Name, name, result)
	switch {
	case over(j.job), j.job.Status.Phase == v1alpha1.PhaseFailed, j.job.DeletionTimestamp != nil:
		j.add(Needless, "creates pod %s, and the job is over or being deleted", pod.Name)
	case j.job.Spec.Paused:
		j.add(Paused, "creates pod %s, spec.paused", pod.Name)
	case policy == v1alpha1.FailurePolicyTypePause || policy == v1alpha1.FailurePolicyTypeFailFast || policy == "":
		for _, other := range j.Observed.Pods {
			counts := j.owned(other) && !j.former(other, j.Observed) && (j.always() || j.Observed.Nodes[nodeOf(other)] != nil)
			j.never(counts && j.result(other) == v1alpha1.NodeFailed, Contained,
				"creates pod %s, and pod %s has failed, failurePolicy %q", pod.Name, other.Name, policy)
		}
	}
	if most, ok := j.parallelism(j.Known); !ok || j.countActive(j.Known)+1 > most {
		j.add(ScaleRate, "creates pod %s beside %d that are active, parallelism %s", pod.Name, j.countActive(j.Known), j.job.Spec.Parallelism)
	}
}

// checkDeletion: a pod goes if its node does not take it any more, or if the job is over. It also goes if another node
// has the name of its node now. (BJ-7, BJ-8, BJ-11, BJ-15)
func (j *jobJudge) checkDeletion() {
	pod := j.knownPod()
	if pod == nil {
		return // the ownership is judged
	}
	seen, _ := j.Observed.Workload.(*v1alpha1.BroadcastJob)
	node, was := j.Known.Nodes[nodeOf(pod)], seen != nil && (over(seen) || seen.Status.Phase == v1alpha1.PhaseFailed)
	failed := j.job.Status.Phase == v1alpha1.PhaseFailed
	switch {
	case pod.DeletionTimestamp != nil:
		j.add(Needless, "deletes pod %s, which is being deleted", pod.Name)
	case failed && j.active(pod), (over(j.job) || failed) && !ended(pod) && j.result(pod) == v1alpha1.NodeFailed:
	case was:
		j.add(Needless, "deletes pod %s, and the job is over", pod.Name)
	case j.job.Spec.Paused:
		j.add(Paused, "deletes pod %s, and the job is paused", pod.Name)
	case j.former(pod, j.Known), !takes(node, &pod.Spec) && (node != nil || j.active(pod)):
	default:
		j.add(Needless, "deletes pod %s, which its node takes", pod.Name)
	}
}

// expired tells whether something ended so many seconds ago. It does not if nothing says how many.
func expired[N int32 | int64](end *metav1.Time, ttl *N, now time.Time) bool {
	return end != nil && ttl != nil && !now.Before(end.Add(time.Duration(*ttl)*time.Second))
}
