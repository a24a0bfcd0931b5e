// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// WS-7.2: what one replica writes, another one reads.
func TestReserve(t *testing.T) {
	ws := spreadOf(t, twoLimits)
	ws.Status.ObservedGeneration = 3
	pod := newPod("", "")
	pod.OwnerReferences = []metav1.OwnerReference{{UID: "1-2-3", Controller: new(true)}}
	pod.Labels = map[string]string{"pod-template-hash": "6d4.x"}
	key := ReservationKey(pod, "random")
	made := []Reservation{
		{Key: key, Subset: "b", Owner: "1-2-3", Revision: revisionOf(pod), Since: now, Expires: now.Add(ReservedFor)},
		{Key: "web-0", Subset: "b", Since: now, Expires: now.Add(ReservedFor)},
	}
	status := Reserve(ws, 9, made)
	want := []v1alpha1.WorkloadSpreadSubsetStatus{
		{Name: "a", MissingReplicas: 2},
		{Name: "b", MissingReplicas: 0, CreatingPods: map[string]metav1.Time{key: metav1.NewTime(now), "web-0": metav1.NewTime(now)}},
		{Name: "c", MissingReplicas: -1},
	}
	if diff := cmp.Diff(want, status.SubsetStatuses); diff != "" || status.ObservedGeneration != 3 {
		t.Errorf("generation %d (-want +got) %s", status.ObservedGeneration, diff)
	}
	ws.Status = *status
	got := Creating(ws)
	slices.SortFunc(got, func(a, b Reservation) int { return len(b.Key) - len(a.Key) })
	if diff := cmp.Diff(made, got); diff != "" {
		t.Errorf("read (-want +got) %s", diff)
	}
	for _, foreign := range []string{"", "web-0", "0f0e2f7a-8f0b-4a43-8a5c-5c0d3d4d9a01", "one.dot"} {
		if owner, revision := readKey(foreign); owner != types.UID("") || revision != "" {
			t.Errorf("%q names the controller %q and the revision %q", foreign, owner, revision)
		}
	}
}
