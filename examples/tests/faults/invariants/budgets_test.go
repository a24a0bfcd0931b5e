// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

func TestBudgetsAreJudged(t *testing.T) {
	budget := &availabilityv1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "budget"}, Spec: availabilityv1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &availabilityv1alpha1.TargetReference{Name: "web"}, MaxUnavailable: new(intstr.FromInt32(1)),
	}}
	set := base().cloneSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1})
	a, b, c := pod("web-a", protected), pod("web-b", protected), pod("web-c", protected)
	serve := []Change{{New: budget}, {New: base().revision(t)}, {New: set}, {New: a}, {New: b}, {New: c}}
	going := func(pod *corev1.Pod, how ...func(*corev1.Pod)) Change {
		after := pod.DeepCopy()
		for _, edit := range append(how, leaving) {
			edit(after)
		}
		return Change{Old: pod, New: after}
	}
	d, pending := pod("web-d", protected), pod("web-d", protected, out)
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"one is evicted", []Change{going(a, evicted)}, nil},
		{"two are evicted", []Change{going(a, evicted), going(b, evicted)}, breaks(invariants.Availability)},
		{"a user deletes another one", []Change{going(a, evicted), going(b, within(UserGracePeriod))}, breaks(invariants.Availability)},
		{"another one before the new one serves", []Change{going(a, evicted), {New: pending}, going(b, evicted)}, breaks(invariants.Availability)},
		{"another one when the new one serves", []Change{going(a, evicted), {New: pending}, {Old: pending, New: d}, going(b, evicted)}, nil},
		{"one that does not serve", []Change{going(a, evicted), {New: pending}, going(pending, evicted)}, nil},
		{"one that goes on going", []Change{going(a, evicted), {Old: going(a, evicted).New}}, nil},
	} {
		j := NewJudge()
		var wrong []invariants.Invariant
		for _, change := range slices.Concat(serve, test.changes) {
			wrong = append(wrong, kinds(j.See([]Change{change}, false))...)
		}
		if diff := cmp.Diff(test.wrong, wrong); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for n, want := range [][]invariants.Invariant{nil, nil, breaks(invariants.Availability)} {
		j := NewJudge()
		see(j, serve...)
		lumped := []Change{{Old: a}, {Old: b}, {Old: c}}[:n]
		if diff := cmp.Diff(want, kinds(j.See(lumped, true))); diff != "" {
			t.Errorf("%d are gone in a gap (-want +got):\n%s", n, diff)
		}
	}
}

// A controller that has not heard of an eviction may do what would have been right before.
func TestUsersAreNotKnownAtOnce(t *testing.T) {
	set := base()
	set.surge = 1
	budget := &availabilityv1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "budget"}, Spec: availabilityv1alpha1.PodUnavailableBudgetSpec{
		TargetReference: &availabilityv1alpha1.TargetReference{Name: "web"}, MaxUnavailable: new(intstr.FromInt32(2)),
	}}
	a, b := pod("web-a", protected), pod("web-b", protected)
	for _, known := range []bool{true, false} {
		j := NewJudge()
		see(j, Change{New: set.revision(t)}, Change{New: set.cloneSet(metav1.ObjectMeta{Name: "web", UID: setUID, Generation: 1})})
		if !known {
			see(j, Change{New: budget})
		}
		wrong := see(j, Change{New: a}, Change{New: b}, Change{New: pod("web-c")}, Change{New: pod("web-d")},
			Change{Old: a, New: pod("web-a", protected, leaving, evicted)}, Change{Old: b, New: pod("web-b", protected, leaving)})
		if (len(wrong) > 0) != known {
			t.Errorf("without a budget %t: scaled in after an eviction: %v", known, wrong)
		}
	}
}
