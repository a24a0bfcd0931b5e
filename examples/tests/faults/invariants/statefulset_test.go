// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

func TestStatefulSetsAreJudged(t *testing.T) {
	p0, p1, p2 := pod("web-0"), pod("web-1"), pod("web-2")
	none := metav1.Object(nil)
	ordered := func(s *spec) { s.ordered = true }
	with := func(edits ...func(*spec)) func(*spec) {
		return func(s *spec) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	// The base spec is Parallel, and counts too; if order matters, it has settled with the ordered one.
	for _, s := range []scenario{
		{"a wanted pod", nil, objects(p0, p1), none, pod("web-2", out), false, nil},
		{"a pod that is not wanted", nil, objects(p0, p1, p2), none, pod("web-3", out), false, breaks(invariants.Identity)},
		{"a pod that an earlier spec wanted", edits(five, two), objects(p0, p1, p2), none, pod("web-3", out), false, nil},
		{"a pod instead of a reserved one", edits(func(s *spec) { s.reserved = []int{1} }), objects(p0, p2), none, pod("web-3", out), false, nil},
		{"two pods of an ordinal", nil, objects(p0, p1, p2), none, pod("web-2", out, func(p *corev1.Pod) { p.UID = types.UID("other") }), false, breaks(invariants.Identity)},

		{"the highest pods are updated", edits(web2), objects(p0, p1), p2, pod("web-2", told("web:2")), false, nil},
		{"the lowest pod is updated first", edits(web2), objects(p1, p2), p0, pod("web-0", told("web:2")), false, breaks(invariants.Availability)},
		{"the second highest pod is updated, maxUnavailable is 2", edits(with(web2, func(s *spec) { s.unavailable = 2 })), objects(p0, p2), p1, pod("web-1", told("web:2")), false, nil},
		{"a pod is updated while the one above does not serve", edits(web2), objects(p0, pod("web-2", at("web:2"), out)), p1, pod("web-1", told("web:2")), false, breaks(invariants.Availability)},
		{"a pod is updated when the one above serves", edits(web2), objects(p0, pod("web-2", at("web:2"))), p1, pod("web-1", told("web:2")), false, nil},
		{"a pod is updated while one below does not serve", edits(web2), objects(pod("web-0", out), p1), p2, pod("web-2", told("web:2")), false, breaks(invariants.Availability)},
		{"the highest pod is taken aside", edits(web2), objects(p0, p1), p2, pod("web-2", aside), false, nil},
		{"the lowest pod is taken aside first", edits(web2), objects(p1, p2), p0, pod("web-0", aside), false, breaks(invariants.Availability)},
		{"a pod is taken aside while paused", edits(stopped), objects(p0, p1), p2, pod("web-2", aside), false, breaks(invariants.Paused)},
		{"a pod is taken aside that is up to date", nil, objects(p0, p1), p2, pod("web-2", aside), false, breaks(invariants.Needless)},
		{"a pod that does not serve is updated", edits(web2), objects(pod("web-1", out), pod("web-2", out)), pod("web-0", out), pod("web-0", out, told("web:2")), false, nil},
		{"a pod below the partition is updated", edits(with(web2, func(s *spec) { s.partition = 3 })), objects(p0, p1), pod("web-2", out), pod("web-2", out, told("web:2")), false, breaks(invariants.Partition)},
		{"a pod is updated while paused", edits(stopped), objects(p0, p1), p2, pod("web-2", told("web:2")), false, breaks(invariants.Paused)},
		{"a pod is recreated", edits(recreate2), objects(p0, p1), p2, pod("web-2", leaving), false, nil},
		{"a pod is recreated that could be updated in place", edits(web2), objects(p0, p1), p2, pod("web-2", leaving), false, breaks(invariants.Needless)},
		{"a pod is recreated below the partition", edits(with(recreate2, func(s *spec) { s.partition = 3 })), objects(p0, p1), p2, pod("web-2", leaving), false, breaks(invariants.Partition)},

		{"scaled in", edits(two), objects(p0, p1), p2, pod("web-2", leaving), false, nil},
		{"the wrong one is scaled in", edits(two), objects(p0, p2), p1, pod("web-1", leaving), false, breaks(invariants.Needless)},
		{"a reserved one is scaled in", edits(func(s *spec) { s.reserved = []int{1} }), objects(p0, p2), p1, pod("web-1", leaving), false, nil},
	} {
		s.check(t, (*spec).statefulSet)
	}
	for _, s := range []scenario{
		{"in order: the next pod", nil, objects(p0, p1), none, pod("web-2", out), false, nil},
		{"in order: a pod before those below serve", nil, objects(p0, pod("web-1", out)), none, pod("web-2", out), false, breaks(invariants.Order)},
		{"in order: a pod before those below are there", nil, objects(p0), none, pod("web-2", out), false, breaks(invariants.Order)},
		{"in order: the same in a gap", nil, objects(p0), none, pod("web-2", out), true, nil},
		{"in order: a pod is updated while one below does not serve", edits(web2), objects(pod("web-0", out), p1), p2, pod("web-2", told("web:2")), false, breaks(invariants.Order)},
		{"in order: scaled in from the top", edits(two), objects(p0, p1), p2, pod("web-2", leaving), false, nil},
		{"in order: scaled in below the top", edits(two), objects(p0, p1, pod("web-3")), p2, pod("web-2", leaving), false, breaks(invariants.Order)},
		{"in order: scaled in before the last one is gone", edits(func(s *spec) { s.replicas = 1 }), objects(p0, pod("web-2", leaving)), p1, pod("web-1", leaving), false, breaks(invariants.Order)},
		{"in order: scaled in while one below does not serve", edits(two), objects(p0, pod("web-1", out)), p2, pod("web-2", leaving), false, breaks(invariants.Order)},
	} {
		s.check(t, func(of *spec, meta metav1.ObjectMeta) metav1.Object {
			ordered(of)
			return of.statefulSet(meta)
		})
	}
}

func TestRetentionIsJudged(t *testing.T) {
	deletes := func(s *spec) { s.replicas, s.deletes = 2, true }
	reserved := func(s *spec) { s.reserved, s.deletes = []int{1}, true }
	none := metav1.Object(nil)
	for _, s := range []scenario{
		{"the policy retains it", edits(two), nil, claim("data-web-2"), none, false, breaks(invariants.Claims)},
		{"it goes with its pod", edits(deletes), nil, claim("data-web-2"), none, false, nil},
		{"it goes in a gap", edits(two), nil, claim("data-web-2"), none, true, breaks(invariants.Claims)},
		{"its pod is wanted", edits(deletes), nil, claim("data-web-1"), none, false, breaks(invariants.Claims)},
		{"its ordinal is reserved", edits(reserved), nil, claim("data-web-1"), none, false, breaks(invariants.Claims)},
		{"it gets an owner that the policy names", edits(deletes), objects(pod("web-2")), claim("data-web-2"), claim("data-web-2", ofPod("web-2")), false, nil},
		{"it gets an owner that no policy names", edits(two), objects(pod("web-2")), claim("data-web-2"), claim("data-web-2", ofPod("web-2")), false, breaks(invariants.Claims)},
		{"it gets its pod as owner, which is wanted", edits(deletes), objects(pod("web-1")), claim("data-web-1"), claim("data-web-1", ofPod("web-1")), false, breaks(invariants.Claims)},
		{"it goes before its pod", edits(deletes), objects(pod("web-2")), claim("data-web-2"), claim("data-web-2", going), false, breaks(invariants.Claims)},
	} {
		s.check(t, (*spec).statefulSet)
	}
}

// TestReadinessMayBeUnknown makes sure that a pod may be moved that has been Ready for a moment only.
func TestReadinessMayBeUnknown(t *testing.T) {
	for _, late := range []struct {
		name    string
		settled bool
		wrong   []invariants.Invariant
	}{
		{"it has just become Ready", false, nil},
		{"it has been Ready when all was settled", true, breaks(invariants.Availability)},
	} {
		j := NewJudge()
		of := base()
		of.recreate, of.image = true, "web:2"
		j.See([]Change{{New: of.revision(t)}, {New: of.statefulSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1})}}, false)
		for _, p := range objects(pod("web-0"), pod("web-1", out), pod("web-2")) {
			j.See([]Change{{New: p}}, false)
		}
		j.See([]Change{{Old: pod("web-1", out), New: pod("web-1")}}, false)
		if late.settled {
			j.Settled()
		}
		var wrong []invariants.Invariant
		for _, v := range j.See([]Change{{Old: pod("web-1"), New: pod("web-1", leaving)}}, false) {
			wrong = breaks(v.Invariant)
		}
		if diff := cmp.Diff(late.wrong, wrong); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", late.name, diff)
		}
	}
}
