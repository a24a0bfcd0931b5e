// SPDX-License-Identifier: Apache-2.0

package nodeimage

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// aged is a task of an age, with a policy.
func aged(age time.Duration, timeout, backoff int32, deadline *int64) v1alpha1.ImageTagSpec {
	t := task("1", owners("a")...)
	t.CreatedAt = ptr.To(at(age))
	t.PullPolicy.TimeoutSeconds, t.PullPolicy.BackoffLimit, t.PullPolicy.ActiveDeadlineSeconds = &timeout, &backoff, deadline
	return t
}

func TestPlanFailsTasks(t *testing.T) {
	const silent, late = v1alpha1.ImagePullMessageNoResponse, v1alpha1.ImagePullMessageDeadline
	begun := v1alpha1.ImageTagStatus{Tag: "1", Version: 1, Phase: pulling, Progress: 30, StartTime: ptr.To(at(time.Hour))}
	former := finished("1", succeeded, time.Hour)
	former.Version = 0
	ready := node(corev1.ConditionTrue, 2*time.Hour)
	minute := ptr.To[int64](60)
	patient := Timing{ResponseTimeout: time.Hour}
	for _, test := range []struct {
		name   string
		task   v1alpha1.ImageTagSpec
		status []v1alpha1.ImageTagStatus
		node   *corev1.Node
		timing Timing
		want   string // message; empty: it has time
		after  time.Duration
	}{
		{"IMG-2.4: silent for a minute", aged(time.Minute, 600, 3, nil), nil, ready, Timing{}, silent, 0},
		{"IMG-2.4: silent for less than a minute", aged(59*time.Second, 600, 3, nil), nil, ready, Timing{}, "", time.Second},
		{"IMG-2.4: Timing.ResponseTimeout", aged(10*time.Minute, 600, 3, nil), nil, ready, Timing{ResponseTimeout: 10 * time.Minute}, silent, 0},
		{"IMG-2.4: less than Timing.ResponseTimeout", aged(9*time.Minute, 600, 3, nil), nil, ready, Timing{ResponseTimeout: 10 * time.Minute}, "", time.Minute},
		{"IMG-2.4: a short Timing.ResponseTimeout", aged(time.Second, 600, 3, nil), nil, ready, Timing{ResponseTimeout: time.Second}, silent, 0},
		{"IMG-2.4: the status is of an older version", aged(time.Minute, 600, 3, nil), []v1alpha1.ImageTagStatus{former}, ready, Timing{}, silent, 0},
		{"IMG-2.4: the status is of another tag", aged(time.Minute, 600, 3, nil), []v1alpha1.ImageTagStatus{finished("2", succeeded, 0)}, ready, Timing{}, silent, 0},
		{"IMG-2.4: the agent has begun: no limit without a deadline", aged(24*time.Hour, 600, 3, nil), []v1alpha1.ImageTagStatus{begun}, ready, Timing{}, "", 0},
		{"IMG-2.4: the agent has finished", aged(24*time.Hour, 600, 3, minute), []v1alpha1.ImageTagStatus{finished("1", succeeded, 30*time.Second)}, ready, Timing{}, "", 30 * time.Second},
		{"IMG-2.4: deadline and a minute", aged(2*time.Minute, 600, 3, minute), []v1alpha1.ImageTagStatus{begun}, ready, Timing{}, late, 0},
		{"IMG-2.4: deadline and less than a minute", aged(time.Minute, 600, 3, minute), []v1alpha1.ImageTagStatus{begun}, ready, Timing{}, "", time.Minute},
		{"IMG-2.4: deadline of a task that was not begun", aged(2*time.Minute, 600, 3, minute), nil, ready, patient, late, 0},
		{"a deadline beyond all time", aged(time.Hour, 600, 3, ptr.To[int64](math.MaxInt64)), []v1alpha1.ImageTagStatus{begun}, ready, Timing{}, "", 0},
		{"IMG-2.4 difference: a minute, however long one waits, on a node that is not ready", aged(time.Minute, 600, 3, nil), nil, node(corev1.ConditionUnknown, time.Hour), patient, silent, 0},
		{"IMG-2.4 difference: the node has not been ready for less than a minute", aged(time.Hour/2, 600, 3, nil), nil, node(corev1.ConditionFalse, 20*time.Second), patient, "", 40 * time.Second},
		{"IMG-2.4: the node is not ready, and nobody waits that long", aged(time.Minute, 600, 3, nil), nil, node(corev1.ConditionFalse, time.Second), Timing{}, silent, 0},
		{"IMG-2.4: a NodeImage without a node", aged(time.Minute, 600, 3, nil), nil, nil, Timing{}, silent, 0},
		{"IMG-2.4 difference: a minute, however long one waits, without a node", aged(time.Minute, 600, 3, nil), nil, nil, patient, silent, 0},
		{"IMG-2.4: a NodeImage without a node, for less than a minute", aged(20*time.Second, 600, 3, nil), nil, nil, patient, "", 40 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := with(t, []v1alpha1.ImageTagSpec{test.task}, test.status...)
			if test.node == nil {
				n.Labels[v1alpha1.FakeNodeImageLabel] = ""
			}
			before := n.DeepCopy()
			s := snapshot(n, job("a", func(j *v1alpha1.ImagePullJob) { j.Status.CompletionTime = ptr.To(at(0)) }))
			s.Node, s.Timing = test.node, test.timing
			plan := NewPlan(s)
			var want []Failed
			if test.want != "" {
				want = []Failed{{"nginx", "1", test.want, owners("a")}}
			}
			if diff := cmp.Diff(want, plan.Failed); diff != "" {
				t.Errorf("failed (-want +got):\n%s", diff)
			}
			if (plan.Status != nil) != (test.want != "") {
				t.Errorf("status: %+v", plan.Status)
			}
			if plan.RequeueAfter != test.after {
				t.Errorf("requeue after %v, want %v", plan.RequeueAfter, test.after)
			}
			if diff := cmp.Diff(before, n); diff != "" {
				t.Errorf("the plan has changed what it was given (-before +after):\n%s", diff)
			}
		})
	}
}

func TestPlanStatus(t *testing.T) {
	begun := v1alpha1.ImageTagStatus{Tag: "1", Version: 1, Phase: pulling, Progress: 30, StartTime: ptr.To(at(time.Hour))}
	n := with(t, []v1alpha1.ImageTagSpec{aged(time.Hour, 600, 3, ptr.To[int64](1)), task("2"), task("3"), task("4")},
		finished("0", succeeded, time.Hour), begun, finished("2", succeeded, time.Second),
		v1alpha1.ImageTagStatus{Tag: "3", Version: 1, Phase: pulling}, finished("4", failed, time.Second))
	silent := aged(time.Hour, 600, 3, nil)
	silent.Tag, silent.Version = "7", 2
	n.Spec.Images["redis"] = v1alpha1.ImageSpec{Tags: []v1alpha1.ImageTagSpec{silent}}
	n.Status.ImageStatuses["redis"] = v1alpha1.ImageStatus{Tags: []v1alpha1.ImageTagStatus{finished("7", succeeded, time.Hour)}}
	n.Status.ImageStatuses["gone"] = v1alpha1.ImageStatus{Tags: []v1alpha1.ImageTagStatus{finished("1", succeeded, 0)}}
	n.Status.FirstSyncStatus = &v1alpha1.SyncStatus{Message: "kept"}
	plan := NewPlan(snapshot(n, job("a")))
	begun.Phase, begun.CompletionTime, begun.Message = failed, ptr.To(at(0)), "pulling exceeds the activeDeadlineSeconds"
	want := &v1alpha1.NodeImageStatus{
		Desired: 5, Succeeded: 1, Failed: 3, Pulling: 1, FirstSyncStatus: &v1alpha1.SyncStatus{Message: "kept"},
		ImageStatuses: map[string]v1alpha1.ImageStatus{
			"nginx": {Tags: []v1alpha1.ImageTagStatus{begun, finished("2", succeeded, time.Second),
				{Tag: "3", Version: 1, Phase: pulling}, finished("4", failed, time.Second)}},
			"redis": {Tags: []v1alpha1.ImageTagStatus{{Tag: "7", Version: 2, Phase: failed, CompletionTime: ptr.To(at(0)), Message: "node has not responded for a long time"}}},
		},
	}
	if diff := cmp.Diff(want, plan.Status); diff != "" {
		t.Errorf("IMG-2.4, IMG-2.5: status (-want +got):\n%s", diff)
	}
	if len(plan.Failed) != 2 || plan.Failed[0].Image != "nginx" || plan.Failed[1].Image != "redis" {
		t.Errorf("failed: %+v", plan.Failed)
	}
}

func TestPlanLeavesTheStatusToTheAgent(t *testing.T) {
	n := with(t, []v1alpha1.ImageTagSpec{task("1")}, finished("0", succeeded, time.Hour))
	if plan := NewPlan(snapshot(n)); plan.Status != nil {
		t.Errorf("IMG-2.4: only tasks that failed are written: %+v", plan.Status)
	}
}

// A plan never takes away what a living job counts, and never asks for a reconcile
// at once.
func FuzzPlan(f *testing.F) {
	f.Add(int64(60), int64(30), int32(60), int64(1), int64(1), true, "Succeeded")
	f.Add(int64(-1), int64(0), int32(-1), int64(0), int64(1), false, "")
	f.Fuzz(func(t *testing.T, age, done int64, ttl int32, version, reported int64, unready bool, phase string) {
		given := aged(time.Duration(age%math.MaxInt32)*time.Second, int32(version), int32(reported), &done)
		given.Version, given.PullPolicy.TTLSecondsAfterFinished = version, &ttl
		status := finished("1", v1alpha1.ImagePullPhase(phase), time.Duration(done%math.MaxInt32)*time.Second)
		if status.Version = reported; phase == "" {
			status.CompletionTime = nil
		}
		s := snapshot(with(t, []v1alpha1.ImageTagSpec{given}, status), job("a"))
		if unready {
			s.Node = node(corev1.ConditionFalse, time.Duration(age%math.MaxInt32)*time.Second)
		}
		plan := NewPlan(s)
		if plan.RequeueAfter < 0 || plan.Change != nil || len(plan.Dropped) > 0 {
			t.Errorf("plan: %+v", plan)
		}
		if len(plan.Failed) > 0 {
			s.NodeImage.Status = *plan.Status
			if again := NewPlan(s); again.Status != nil {
				t.Errorf("the same task fails again: %+v", again.Failed)
			}
		}
	})
}
