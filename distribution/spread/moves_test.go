// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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
