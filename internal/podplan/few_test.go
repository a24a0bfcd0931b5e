// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/patches"
)

// CT-18: how many pods a repair deletes at once that may be wrong about all of them. Gone is how long ago others were deleted, so many times.
func TestFew(t *testing.T) {
	now := time.Unix(1000, 0)
	type row struct {
		Due, Pods int
		Gone      []metav1.Duration
		Times     int
	}
	patches.PlayRows(t, "testdata/few.txt", nil, func(_ *testing.T, command string, r *row) string {
		var deleted []time.Time
		for _, ago := range r.Gone {
			deleted = append(deleted, now.Add(-ago.Duration))
		}
		if command == "recent" {
			var ages []time.Duration
			for _, at := range Recent(deleted, now) {
				ages = append(ages, now.Sub(at))
			}
			return fmt.Sprint(ages)
		}
		may, again := Few(r.Due, r.Pods, slices.Repeat(deleted, max(r.Times, 1)), now)
		return fmt.Sprintf("%d may go, again after %s", may, again)
	})
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
