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
