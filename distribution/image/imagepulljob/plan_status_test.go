// SPDX-License-Identifier: Apache-2.0

package imagepulljob

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const (
	pulling   = v1alpha1.ImagePhasePulling
	succeeded = v1alpha1.ImagePhaseSucceeded
	failed    = v1alpha1.ImagePhaseFailed
)

func TestPlanState(t *testing.T) {
	for _, test := range []struct {
		name string
		node *v1alpha1.NodeImage
		want State
	}{
		{"IMG-1.5: no task", nodeImage("n"), NotSynced},
		{"IMG-1.5: the task of another job", nodeImage("n", task("nginx", "1")), NotSynced},
		{"IMG-1.5: a task for another tag", nodeImage("n", task("nginx", "2", mine)), NotSynced},
		{"IMG-1.5: no status of the image", nodeImage("n", given("")), Active},
		{"IMG-1.5: an older version", nodeImage("n", given(""), reports("nginx", "1", 0, succeeded)), Active},
		{"IMG-1.5: Succeeded", nodeImage("n", given(succeeded)), Succeeded},
		{"IMG-1.5: Failed", nodeImage("n", given(failed)), Failed},
		{"IMG-1.5: Pulling", nodeImage("n", given(pulling)), Active},
		{"IMG-1.5: Waiting", nodeImage("n", given(v1alpha1.ImagePhaseWaiting)), Active},
		{"IMG-1.5 difference: the image has a status, and this tag has none yet", nodeImage("n", given(""), reports("nginx", "2", 1, succeeded)), Active},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := NewPlan(snapshot(newJob(t, "parallelism: 0"), test.node))
			if diff := cmp.Diff([]Node{{"n", test.want}}, plan.Nodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanStatus(t *testing.T) {
	nodes := func(states ...v1alpha1.ImagePullPhase) (all []*v1alpha1.NodeImage) {
		for i, state := range states {
			all = append(all, nodeImage(string(rune('a'+i)), given(state)))
		}
		return all
	}
	type want struct {
		status       v1alpha1.ImagePullJobStatus
		requeueAfter time.Duration
	}
	const minute = "completionPolicy: {activeDeadlineSeconds: 60}"
	for _, test := range []struct {
		name, spec string
		started    time.Duration // before noon
		nodes      []*v1alpha1.NodeImage
		want       want
	}{
		{"IMG-1.5: startTime is the first reconcile, which assigns", "", -1, fresh(4), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(0), Desired: 4, Active: 1, Message: "job is running, progress 0.0%"}, 0}},
		{"IMG-1.5: progress, with one decimal", "", time.Hour, nodes(succeeded, failed, pulling), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), Desired: 3, Active: 1, Succeeded: 1, Failed: 1, FailedNodes: []string{"b"}, Message: "job is running, progress 66.7%"}, 0}},
		{"IMG-1.5: completed", "", time.Hour, nodes(succeeded, failed), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), CompletionTime: at(0), Desired: 2, Succeeded: 1, Failed: 1, FailedNodes: []string{"b"}, Message: "job has completed"}, 0}},
		{"IMG-1.5: failedNodes are sorted", "selector: {names: [b, a]}", time.Hour, nodes(failed, failed), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), CompletionTime: at(0), Desired: 2, Failed: 2, FailedNodes: []string{"a", "b"}, Message: "job has completed"}, 0}},
		{"IMG-1.5: completed, to be deleted later", "completionPolicy: {ttlSecondsAfterFinished: 30}", time.Hour, nodes(succeeded), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), CompletionTime: at(0), Desired: 1, Succeeded: 1, Message: "job has completed"}, 30 * time.Second}},
		{"IMG-1.5: no node matches: it completes at once", "selector: {names: [x]}", -1, nil, want{v1alpha1.ImagePullJobStatus{
			StartTime: at(0), CompletionTime: at(0), Message: "job has completed: no node is selected"}, 0}},
		{"IMG-1.5: type Never never completes", "completionPolicy: {type: Never}", time.Hour, nodes(succeeded), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), Desired: 1, Succeeded: 1, Message: "job is running, progress 100.0%"}, 0}},
		{"IMG-1.5: type Never without nodes", "completionPolicy: {type: Never}", time.Hour, nil, want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), Message: "job is running, no progress"}, 0}},
		{"IMG-1.5: before the deadline", minute, 45 * time.Second, nodes(pulling), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-45 * time.Second), Desired: 1, Active: 1, Message: "job is running, progress 0.0%"}, 15 * time.Second}},
		{"IMG-1.5: the deadline counts from the first reconcile", minute, -1, nodes(pulling), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(0), Desired: 1, Active: 1, Message: "job is running, progress 0.0%"}, time.Minute}},
		{"IMG-1.5: at the deadline, what is not finished has failed", minute, time.Minute,
			append(nodes(succeeded, failed, pulling), nodeImage("Z")), want{v1alpha1.ImagePullJobStatus{
				StartTime: at(-time.Minute), CompletionTime: at(0), Desired: 4, Succeeded: 1, Failed: 3, FailedNodes: []string{"Z", "b", "c"},
				Message: "job exceeds activeDeadlineSeconds"}, 0}},
		{"IMG-1.5: done, though after the deadline", minute, time.Hour, nodes(succeeded), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), CompletionTime: at(0), Desired: 1, Succeeded: 1, Message: "job has completed"}, 0}},
		{"a deadline beyond all time", "completionPolicy: {activeDeadlineSeconds: 9223372036854775807}", time.Hour, nodes(pulling), want{v1alpha1.ImagePullJobStatus{
			StartTime: at(-time.Hour), Desired: 1, Active: 1, Message: "job is running, progress 0.0%"}, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := newJob(t, test.spec)
			if test.started >= 0 {
				job.Status.StartTime = at(-test.started)
			}
			plan := NewPlan(snapshot(job, test.nodes...))
			if plan.Status == nil {
				t.Fatalf("plan: %+v", plan)
			}
			got := want{*plan.Status, plan.RequeueAfter}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if plan.Status.CompletionTime != nil && len(plan.Assign) > 0 {
				t.Errorf("a job that is over assigns: %v", assigned(plan))
			}
			job.Status = *plan.Status
			if again := NewPlan(snapshot(job, test.nodes...)); again.Status != nil {
				t.Errorf("the status is written again: %+v", again.Status)
			}
		})
	}
}

func TestPlanReportsProgressNowAndThen(t *testing.T) {
	for _, test := range []struct {
		name     string
		reported time.Duration // before noon
		node     *v1alpha1.NodeImage
		write    bool
		after    time.Duration
	}{
		{"progress, just after it was reported", 2 * time.Second, nodeImage("n", given(pulling)), false, 3 * time.Second},
		{"progress, a while after it was reported", 5 * time.Second, nodeImage("n", given(pulling)), true, 0},
		{"the end is reported at once", time.Second, nodeImage("n", given(succeeded)), true, 0},
		{"a clock that was set back", -time.Hour, nodeImage("n", given(pulling)), false, time.Hour + 5*time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := newJob(t, "")
			job.Status.StartTime = at(-time.Minute)
			s := snapshot(job, test.node)
			s.Reported = noon.Add(-test.reported)
			plan := NewPlan(s)
			if (plan.Status != nil) != test.write || plan.RequeueAfter != test.after {
				t.Errorf("status %+v, requeue after %v", plan.Status, plan.RequeueAfter)
			}
		})
	}
}

func TestPlanOfAFinishedJob(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		finished   time.Duration // before noon
		want       Plan
	}{
		{"IMG-1.5: kept without a TTL", "", time.Hour, Plan{}},
		{"IMG-1.5: deleted later", "completionPolicy: {ttlSecondsAfterFinished: 600}", time.Minute, Plan{RequeueAfter: 9 * time.Minute}},
		{"IMG-1.5: deleted now", "completionPolicy: {ttlSecondsAfterFinished: 600}", 10 * time.Minute, Plan{Delete: true}},
		{"IMG-1.5: a TTL of 0", "completionPolicy: {ttlSecondsAfterFinished: 0}", 0, Plan{Delete: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := newJob(t, test.spec)
			job.Status.CompletionTime = at(-test.finished)
			if diff := cmp.Diff(&test.want, NewPlan(snapshot(job, fresh(3)...))); diff != "" {
				t.Errorf("IMG-1.5: nothing changes after completion but this (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanOfAJobThatIsBeingDeleted(t *testing.T) {
	job := newJob(t, "")
	job.DeletionTimestamp = at(0)
	if diff := cmp.Diff(&Plan{}, NewPlan(snapshot(job, fresh(3)...))); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

func TestPlanProblems(t *testing.T) {
	for _, test := range []struct{ name, spec, image, want string }{
		{"IMG-1.1: an image that cannot be parsed", "", "Nginx", `spec.image "Nginx": the name is "library/Nginx", want lower-case letters and digits, with single separators between them`},
		{"IMG-1.1: both selectors", "{selector: {}, podSelector: {}}", "nginx", "spec.podSelector: is set beside spec.selector; at most one of them can select the nodes"},
		{"IMG-1.1: a selector", "selector: {matchExpressions: [{key: a, operator: Like}]}", "nginx", `spec.selector: "Like" is not a valid label selector operator`},
		{"IMG-1.1: a pod selector", "podSelector: {matchExpressions: [{key: a, operator: Like}]}", "nginx", `spec.podSelector: "Like" is not a valid label selector operator`},
		{"IMG-1.1: a type", "completionPolicy: {type: Sometimes}", "nginx", `spec.completionPolicy.type: found "Sometimes", want Always or Never`},
		{"IMG-1.4: a parallelism", "parallelism: few", "nginx", `spec.parallelism: found "few", want a number such as 3 or a whole percentage such as "30%"`},
		{"IMG-1.4: a percentage", "parallelism: few%", "nginx", `spec.parallelism: found "few%", want a number such as 3 or a whole percentage such as "30%"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			job := newJob(t, test.spec)
			job.Spec.Image = test.image
			plan := NewPlan(snapshot(job, fresh(3)...))
			if len(plan.Assign) > 0 || plan.Status == nil || plan.Status.CompletionTime != nil {
				t.Errorf("a job with a problem goes on: %+v", plan)
			}
			if diff := cmp.Diff(test.want, plan.Status.Message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever a job says, its plan keeps to it.
func FuzzPlan(f *testing.F) {
	f.Add("nginx:1", "1", int64(60), int32(60), 3, int64(30))
	f.Add("a/b", "30%", int64(-1), int32(0), 0, int64(0))
	f.Fuzz(func(t *testing.T, image, parallel string, deadline int64, ttl int32, nodes int, since int64) {
		job := newJob(t, "")
		job.Spec.Image, job.Spec.Parallelism = image, percent(parallel)
		job.Spec.CompletionPolicy.ActiveDeadlineSeconds, job.Spec.CompletionPolicy.TTLSecondsAfterFinished = &deadline, &ttl
		job.Status.StartTime = ptr.To(*at(-time.Duration(since%math.MaxInt32) * time.Second))
		plan := NewPlan(snapshot(job, fresh(min(max(nodes, 0), 50))...))
		if n := int32(len(plan.Assign)); n > plan.Parallelism {
			t.Errorf("%d nodes get the task, parallelism is %d", n, plan.Parallelism)
		}
		if plan.RequeueAfter < 0 || plan.Status == nil || plan.Status.Desired != plan.Status.Succeeded+plan.Status.Failed && plan.Status.CompletionTime != nil {
			t.Errorf("plan: %+v", plan)
		}
		for _, h := range plan.Assign {
			if policy := h.Image.Tags[0].PullPolicy; *policy.TTLSecondsAfterFinished < ttlReserve {
				t.Errorf("TTL %d", *policy.TTLSecondsAfterFinished)
			}
			if _, err := h.Patch(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A status names so many nodes, and counts all. (IMG-1.5)
func TestStatusOfManyFailedNodes(t *testing.T) {
	var nodes []*v1alpha1.NodeImage
	for i := range 6000 {
		nodes = append(nodes, nodeImage(fmt.Sprintf("n%04d", i), given(v1alpha1.ImagePhaseFailed)))
	}
	for spec, all := range map[string][]*v1alpha1.NodeImage{"": nodes, "completionPolicy: {activeDeadlineSeconds: 1}": fresh(6000)} {
		job := newJob(t, spec)
		job.Status.StartTime = at(-time.Hour)
		status := NewPlan(snapshot(job, all...)).Status
		if status.Failed != 6000 || len(status.FailedNodes) != mostFailedNodes || !slices.IsSorted(status.FailedNodes) {
			t.Errorf("IMG-1.5: %s: %d failed, %d named", spec, status.Failed, len(status.FailedNodes))
		}
	}
}
