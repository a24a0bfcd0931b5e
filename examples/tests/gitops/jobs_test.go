// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/broadcastjob"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// errand is a BroadcastJob, and a cluster of two nodes in which its pods run.
type errand struct{ broadcastjob.Snapshot }

func newErrand() *errand {
	return &errand{broadcastjob.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), AssignDirectly: true, Nodes: nodes(2), Job: &v1alpha1.BroadcastJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "BroadcastJob"},
		ObjectMeta: metav1.ObjectMeta{Name: "clean", Namespace: "default", UID: "1", Generation: 1},
		Spec: v1alpha1.BroadcastJobSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "clean:1"}}},
		}},
	}}}
}

func (r *errand) defaulted() *errand {
	broadcastjob.Default(r.Job, nil, broadcastjob.DefaultOptions{})
	return r
}

// edit is what a user does.
func (r *errand) edit(change func(*v1alpha1.BroadcastJobSpec)) {
	change(&r.Job.Spec)
	r.Job.Generation++
}

// settle reconciles until nothing changes any more. Pods start at once, and run until they end.
func (r *errand) settle() {
	for range 10 {
		plan := broadcastjob.NewPlan(&r.Snapshot)
		if plan.Status != nil {
			r.Job.Status = *plan.Status
		}
		for _, deletion := range plan.Delete {
			r.Pods = slices.DeleteFunc(r.Pods, func(pod *corev1.Pod) bool { return pod.Name == deletion.Pod.Name })
		}
		for _, created := range plan.Create {
			starts(created.Pod, r.Now, "")
			r.Pods = append(r.Pods, created.Pod)
		}
	}
}

// ends has a pod come to its end.
func (r *errand) ends(pod int, phase corev1.PodPhase) {
	r.Pods[pod].Status.Phase = phase
	r.settle()
}

// A BroadcastJob is shown as healthy when all of its pods have succeeded, and as degraded when it has failed.
func TestBroadcastJob(t *testing.T) {
	r := newErrand().defaulted()
	s := &story{T: t, kind: "BroadcastJob", object: func() any { return r.Job }, status: func() rollout.Status { return broadcastjob.RolloutStatus(r.Job) }}
	s.show("it is new")
	r.settle()
	s.show("its pods run")
	r.edit(func(s *v1alpha1.BroadcastJobSpec) { s.Paused = true })
	r.settle()
	s.show("it is paused")
	r.edit(func(s *v1alpha1.BroadcastJobSpec) { s.Paused = false })
	r.ends(0, corev1.PodSucceeded)
	s.show("one of two pods has succeeded")
	r.ends(1, corev1.PodSucceeded)
	s.show("both have succeeded")

	r = newErrand().defaulted()
	r.settle()
	r.ends(0, corev1.PodFailed)
	s.show("a pod of another has failed")

	r = newErrand().defaulted()
	r.Job.Spec.FailurePolicy.Type = v1alpha1.FailurePolicyTypeContinue
	r.settle()
	r.ends(0, corev1.PodFailed)
	r.ends(1, corev1.PodSucceeded)
	s.show("one has failed and one has succeeded, and the job was to go on")

	r = newErrand().defaulted()
	r.Nodes = nil
	r.settle()
	s.show("there are no nodes")
	s.expect(
		reading{"it is new", "Progressing", "Current", rollout.Unobserved},
		reading{"its pods run", "Progressing", "Current", rollout.InProgress},
		reading{"it is paused", "Suspended", "Current", rollout.InProgress},
		reading{"one of two pods has succeeded", "Progressing", "Current", rollout.InProgress},
		reading{"both have succeeded", "Healthy", "Current", rollout.Complete},
		reading{"a pod of another has failed", "Degraded", "Failed", rollout.Failed},
		reading{"one has failed and one has succeeded, and the job was to go on", "Progressing", "Current", rollout.Complete},
		reading{"there are no nodes", "Progressing", "Current", rollout.InProgress},
	)
}

// ticker is an AdvancedCronJob whose jobs are BroadcastJobs.
type ticker struct{ cronjob.Snapshot }

func newTicker() *ticker {
	return &ticker{cronjob.Snapshot{Now: time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC), CronJob: &v1alpha1.AdvancedCronJob{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "AdvancedCronJob"},
		ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "default", UID: "1", Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC))},
		Spec: v1alpha1.AdvancedCronJobSpec{Schedule: "* * * * *", Template: v1alpha1.CronJobTemplate{
			BroadcastJobTemplate: &v1alpha1.BroadcastJobTemplateSpec{Spec: newErrand().Job.Spec}}},
	}}}
}

func (r *ticker) defaulted() *ticker {
	cronjob.Default(r.CronJob, nil, cronjob.DefaultOptions{})
	return r
}

// settle reconciles until nothing changes any more.
func (r *ticker) settle() {
	for range 5 {
		plan := cronjob.NewPlan(&r.Snapshot)
		if plan.Status != nil {
			r.CronJob.Status = *plan.Status
		}
		if plan.Start != nil {
			plan.Start.BroadcastJob.UID = "job"
			r.BroadcastJobs = append(r.BroadcastJobs, plan.Start.BroadcastJob)
		}
	}
}

// An AdvancedCronJob is shown as healthy when it has run, as degraded before: so Argo CD has it.
func TestAdvancedCronJob(t *testing.T) {
	r := newTicker().defaulted()
	s := &story{T: t, kind: "AdvancedCronJob", object: func() any { return r.CronJob }, status: func() rollout.Status { return cronjob.RolloutStatus(r.CronJob) }}
	r.settle()
	s.show("the first time has not come")
	r.CronJob.Spec.Paused = new(true)
	r.CronJob.Generation++
	s.show("it is paused before, not yet observed")
	r.settle()
	s.show("it is paused before")
	r.CronJob.Spec.Paused = new(false)
	r.CronJob.Generation++
	r.Now = r.Now.Add(time.Minute)
	r.settle()
	s.show("a job runs")
	job := r.BroadcastJobs[0]
	job.Status.Conditions = []v1alpha1.JobCondition{{Type: v1alpha1.JobComplete, Status: corev1.ConditionTrue}}
	job.Status.CompletionTime = &metav1.Time{Time: r.Now}
	r.settle()
	s.show("the job has ended")
	s.expect(
		reading{"the first time has not come", "Degraded", "Current", rollout.Complete},
		reading{"it is paused before, not yet observed", "Suspended", "InProgress", rollout.Unobserved},
		reading{"it is paused before", "Suspended", "Current", rollout.Complete},
		reading{"a job runs", "Progressing", "Current", rollout.Complete},
		reading{"the job has ended", "Healthy", "Current", rollout.Complete},
	)
}
