// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CT-18: how many pods a repair deletes at once that may be wrong about all of them.
func TestFew(t *testing.T) {
	now := time.Unix(1000, 0)
	ago := func(ages ...time.Duration) (deleted []time.Time) {
		for _, age := range ages {
			deleted = append(deleted, now.Add(-age))
		}
		return deleted
	}
	const s, ms = time.Second, time.Millisecond
	for _, test := range []struct {
		name      string
		due, pods int
		deleted   []time.Time
		may       int
		again     time.Duration
	}{
		{"none", 0, 30, nil, 0, 0},
		{"as many as may", 10, 10, nil, 10, 0},
		{"one more", 11, 11, nil, 10, 5 * s},
		{"a tenth, rounded up", 101, 101, nil, 11, 5 * s},
		{"some have gone", 30, 30, ago(4*s, 3*s), 8, s},
		{"all that are left may go", 8, 30, ago(4*s, 3*s), 8, 0},
		{"as many as may have gone", 5, 30, slices.Repeat(ago(4999*ms), 10), 0, ms},
		{"they have gone for long", 30, 30, slices.Repeat(ago(5*s), 10), 10, 5 * s},
		{"they will have gone, by another clock", 30, 30, slices.Repeat(ago(-s), 10), 10, 5 * s},
		{"more have gone than may", 30, 30, slices.Repeat(ago(s), 20), 0, 4 * s},
	} {
		if may, again := Few(test.due, test.pods, test.deleted, now); may != test.may || again != test.again {
			t.Errorf("%s: %d may go, again after %v; want %d, after %v", test.name, may, again, test.may, test.again)
		}
	}
	if diff := cmp.Diff(ago(4*s, 0), Recent(ago(6*s, 5*s, 4*s, 0, -1), now)); diff != "" {
		t.Errorf("what counts (-want +got) %s", diff)
	}
}

// CT-18: what is remembered of a repair is what counts, and the pods that are there and could not be deleted.
func TestRepaired(t *testing.T) {
	now := time.Unix(1000, 0)
	pods := make([]*corev1.Pod, 0, 4)
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}})
	}
	repair := Repaired{Deleted: []time.Time{now.Add(-5 * time.Second), now.Add(-time.Second)}, Kept: map[types.UID]bool{"a": true, "b": true, "gone": true}}.Begin(pods, now)
	repair.Tried("a", true, false, now)
	repair.Tried("c", false, true, now)
	repair.Tried("d", true, true, now) // there was no answer
	want := Repaired{Deleted: []time.Time{now.Add(-time.Second), now, now}, Kept: map[types.UID]bool{"b": true, "c": true, "d": true}}
	if diff := cmp.Diff(want, repair.Repaired); diff != "" {
		t.Errorf("remembered (-want +got) %s", diff)
	}
}
