// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// broadcastJob is a BroadcastJob whose failed pods do not stop it, on nodes that stay. No user deletes its pods.
type broadcastJob struct {
	latest *v1alpha1.BroadcastJob // nil while its watch, which broke, has not shown it
	pods   map[string]types.UID   // that were created, by node
}

// takeBroadcastJob takes note of a version of a BroadcastJob.
func (j *Judge) takeBroadcastJob(object *v1alpha1.BroadcastJob) {
	j.broadcastJobOf(object.UID).latest = object
}

func (j *Judge) broadcastJobOf(uid types.UID) *broadcastJob {
	if j.broadcastJobs[uid] == nil {
		j.broadcastJobs[uid] = &broadcastJob{pods: map[string]types.UID{}}
	}
	return j.broadcastJobs[uid]
}

// judgeBroadcastJobPod: a node is run once, and no more pods are active than spec.parallelism says.
func (j *Judge) judgeBroadcastJobPod(v *verdict, c Change) {
	pod := c.latest().(*corev1.Pod)
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "BroadcastJob" {
		return
	}
	job := j.broadcastJobOf(owner.UID)
	if c.New == nil || deletedBy(c) {
		v.expect(false, invariants.Needless, "deleted without a reason")
		return
	}
	node := nodeOf(pod)
	if first, ran := job.pods[node]; !ran {
		job.pods[node] = pod.UID
	} else {
		v.expect(first == pod.UID, invariants.Identity, "%s is run again, by a pod beside %s", node, first)
	}
	if c.Old != nil || job.latest == nil {
		return
	}
	active := 0
	for _, other := range j.podsOf(owner.UID) {
		if podstate.Active(other) {
			active++
		}
	}
	if parallelism := job.latest.Spec.Parallelism; parallelism != nil {
		v.expect(active <= parallelism.IntValue(), invariants.Surge, "%d pods are active, parallelism is %d", active, parallelism.IntValue())
	}
}

// deletedBy tells whether a change begins the deletion of an object.
func deletedBy(c Change) bool { return c.Old != nil && deleted(c.Old, c.New) }

// settled: the job counts what has become of its pods, exactly, and nothing is left to do.
func (b *broadcastJob) settled(v *verdict, pods map[string]*corev1.Pod) {
	succeeded, failed := 0, 0
	for _, pod := range pods {
		switch pod.Status.Phase {
		case corev1.PodSucceeded:
			succeeded++
		case corev1.PodFailed:
			failed++
		}
	}
	st := &b.latest.Status
	v.expect(succeeded+failed == len(b.pods) && len(pods) == len(b.pods), invariants.Settled, "%d pods have succeeded, %d have failed, %d were created", succeeded, failed, len(b.pods))
	v.expect(int(st.Succeeded) == succeeded && int(st.Failed) == failed && int(st.Desired) == len(b.pods) && st.Active == 0, invariants.Status,
		"counts %d of %d succeeded, %d failed, %d active; of %d pods %d have succeeded and %d failed", st.Succeeded, st.Desired, st.Failed, st.Active, len(b.pods), succeeded, failed)
	v.expect(st.Phase == v1alpha1.PhaseCompleted && st.CompletionTime != nil, invariants.Settled, "phase %s", st.Phase)
}

// cronJob is an AdvancedCronJob whose finished jobs stay.
type cronJob struct {
	claimed map[int64]bool      // the scheduled times that its status has claimed, in Unix seconds
	runs    map[int64]types.UID // the jobs that were created, by scheduled time
}

// takeCronJob takes note of a version of an AdvancedCronJob.
func (j *Judge) takeCronJob(object *v1alpha1.AdvancedCronJob) {
	c := j.cronJobOf(object.UID)
	if last := object.Status.LastScheduleTime; last != nil {
		c.claimed[last.Unix()] = true
	}
}

func (j *Judge) cronJobOf(uid types.UID) *cronJob {
	if j.cronJobs[uid] == nil {
		j.cronJobs[uid] = &cronJob{claimed: map[int64]bool{}, runs: map[int64]types.UID{}}
	}
	return j.cronJobs[uid]
}

// judgeScheduledJob: no scheduled time has two jobs, also if the first is gone, and none has one before it has come.
func (j *Judge) judgeScheduledJob(v *verdict, c Change) {
	owner := metav1.GetControllerOfNoCopy(c.latest())
	if owner == nil || owner.Kind != "AdvancedCronJob" {
		return
	}
	of, job := j.cronJobOf(owner.UID), c.latest()
	at, err := time.Parse(time.RFC3339, job.GetAnnotations()[v1alpha1.ScheduledAtAnnotation])
	if err != nil {
		v.expect(false, invariants.Identity, "it does not say for which time: %v", err)
		return
	}
	if first, ran := of.runs[at.Unix()]; ran {
		v.expect(first == job.GetUID(), invariants.Identity, "%v is run again, after %s", at, first)
		return
	}
	of.runs[at.Unix()] = job.GetUID()
	v.expect(!job.GetCreationTimestamp().Time.Before(at), invariants.Order, "created at %v for %v", job.GetCreationTimestamp(), at)
}

// Runs returns the scheduled times of an AdvancedCronJob that have jobs, in order, and Lost those that its status has claimed and
// that have none.
func (j *Judge) Runs(uid types.UID) (runs, lost []time.Time) {
	c := j.cronJobs[uid]
	if c == nil {
		return nil, nil
	}
	for _, at := range slices.Sorted(maps.Keys(c.runs)) {
		runs = append(runs, time.Unix(at, 0).UTC())
	}
	for _, at := range slices.Sorted(maps.Keys(c.claimed)) {
		if _, ran := c.runs[at]; !ran {
			lost = append(lost, time.Unix(at, 0).UTC())
		}
	}
	return runs, lost
}

// judgeJobsSettled judges what has become of the BroadcastJobs.
func (j *Judge) judgeJobsSettled() (wrong []invariants.Violation) {
	for uid, job := range j.broadcastJobs {
		if job.latest == nil {
			continue
		}
		v := &verdict{about: "BroadcastJob " + job.latest.Name}
		job.settled(v, j.podsOf(uid))
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}
