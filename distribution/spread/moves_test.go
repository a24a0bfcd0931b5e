// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WS-36: how many pods go at once, of those that go to other subsets.
func TestMovesAtOnce(t *testing.T) {
	ago := func(ages ...time.Duration) (moved []time.Time) {
		for _, age := range ages {
			moved = append(moved, now.Add(-age))
		}
		return moved
	}
	const ms = time.Millisecond
	lost, fresh := stuck(31*time.Second), pending(2*time.Second)
	for _, test := range []struct {
		name  string
		wants int32
		pods  []*corev1.Pod
		moved []time.Time
		may   int
		again time.Duration
	}{
		{"nothing is to go", 30, some(30, "a"), nil, 0, 0},
		{"as many as may", 10, some(10, "a", lost), nil, 10, 0},
		{"one more", 11, some(11, "a", lost), nil, 10, 5 * time.Second},
		{"a tenth, rounded up", 101, some(101, "a", lost), nil, 11, 5 * time.Second},
		{"a tenth of what is wanted", 101, some(150, "a", lost), nil, 11, 5 * time.Second},
		{"a tenth of the pods that there are", 900, slices.Concat(some(150, "a", lost), some(500, "b", ended), some(500, "c", deleting)), nil, 15, 5 * time.Second},
		{"some have gone", 30, some(30, "a", lost), ago(4*time.Second, 3*time.Second), 8, time.Second},
		{"as many as may have gone", 30, some(5, "a", lost), slices.Repeat(ago(4999*ms), 10), 0, ms},
		{"they have gone for long", 30, some(30, "a", lost), slices.Repeat(ago(5*time.Second), 10), 10, 5 * time.Second},
		{"they will have gone, by another clock", 30, some(30, "a", lost), slices.Repeat(ago(-time.Second), 10), 10, 5 * time.Second},
		{"more have gone than may", 30, some(30, "a", lost), slices.Repeat(ago(time.Second), 20), 0, 4 * time.Second},
		{"misplaced pods", 30, slices.Concat(some(27, "a", fresh), some(3, "c")), ago(time.Second), 9, 4 * time.Second},
	} {
		got := Compute(State{Spread: spreadOf(t, adaptive), Workload: deployment(test.wants), Pods: test.pods, Moved: test.moved, Now: now})
		if len(got.Deletions) == 0 {
			got.RequeueAfter = 0
		}
		if got.MayDelete != test.may || got.RequeueAfter != test.again {
			t.Errorf("%s: %d of %d may go, again after %v; want %d, after %v", test.name, got.MayDelete, len(got.Deletions), got.RequeueAfter, test.may, test.again)
		}
	}
}

// Pods of a Job that no node takes are deleted while few have failed, as the Job has counted and will count. (WS-37)
func TestMovesOfJobs(t *testing.T) {
	adaptive := "subsets: [{name: a}, {name: b}]\nscheduleStrategy: {type: Adaptive, adaptive: {rescheduleCriticalSeconds: 30}}"
	job := of("batch/v1", "Job")
	failed := func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }
	tracked := func(pod *corev1.Pod) { pod.Finalizers = []string{batchv1.JobTrackingFinalizer} }
	lost := some(5, "a", stuck(time.Hour), job)
	for _, test := range []struct {
		name          string
		kind          schema.GroupKind
		may           *int32
		others        []*corev1.Pod
		moved         []time.Time
		deleted, stay int
	}{
		{"three may fail", Jobs, new(int32(3)), nil, nil, 3, 2},
		{"all may", Jobs, new(int32(50)), nil, nil, 5, 0},
		{"none may", Jobs, new(int32(0)), nil, nil, 0, 5},
		{"it is not known", Jobs, nil, nil, nil, 0, 5},
		{"the Job belongs to another kind", schema.GroupKind{Group: "batch.example.com", Kind: "Jobs"}, new(int32(9)), nil, nil, 0, 5},
		{"some have failed, and were not counted", Jobs, new(int32(3)), slices.Concat(some(1, "b", failed, job, tracked), some(1, "b", deleting, job, tracked)), nil, 1, 4},
		{"those were counted", Jobs, new(int32(3)), slices.Concat(some(1, "b", failed, job), some(1, "b", ended, job, tracked)), nil, 3, 2},
		{"some have gone just now", Jobs, new(int32(3)), nil, []time.Time{now.Add(-time.Second), now}, 1, 4},
	} {
		got := Compute(State{Spread: spreadOf(t, adaptive), Workload: &Workload{GroupKind: test.kind, Name: "web", Replicas: new(int32(9)), MayFail: test.may},
			Pods: slices.Concat(lost, test.others), Moved: test.moved, Now: now})
		if len(got.Deletions) != test.deleted || len(got.Staying) != test.stay {
			t.Errorf("WS-37: %s: %d are deleted and %d stay, want %d and %d", test.name, len(got.Deletions), len(got.Staying), test.deleted, test.stay)
		}
		if again := got.RequeueAfter; len(test.moved) > 0 && again != 5*time.Second {
			t.Errorf("WS-37: %s: looks again after %v, want it when the last one does not count any more", test.name, again)
		}
	}
}
