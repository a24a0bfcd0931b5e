// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

var noon = time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)

func seconds(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }

// budgetPod is a pod that serves, and knows its budget.
func budgetPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := servingPod(name, "a")
	pod.Annotations = map[string]string{availabilityv1alpha1.RelatedPubAnnotation: "web"}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func toDelete(pod *corev1.Pod) { pod.Labels["apps.kruise.io/specified-delete"] = "true" }

// budgetOfFour lets n of five pods go; four have to stay.
func budgetOfFour(version string, n int32, changes ...func(*availabilityv1alpha1.PodUnavailableBudget)) *availabilityv1alpha1.PodUnavailableBudget {
	b := &availabilityv1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "budget", Generation: 1, ResourceVersion: version},
		Spec: availabilityv1alpha1.PodUnavailableBudgetSpec{MinAvailable: new(intstr.FromInt32(4)),
			TargetReference: &availabilityv1alpha1.TargetReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web"}},
		Status: availabilityv1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 4, DesiredAvailable: 4, CurrentAvailable: 5, UnavailableAllowed: n},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

// booking has a budget record pods at a time.
func booking(at time.Time, pods ...string) func(*availabilityv1alpha1.PodUnavailableBudget) {
	return func(b *availabilityv1alpha1.PodUnavailableBudget) {
		b.Status.DisruptedPods, b.Status.PodUIDs = map[string]metav1.Time{}, map[string]types.UID{}
		for _, pod := range pods {
			b.Status.DisruptedPods[pod], b.Status.PodUIDs[pod] = metav1.NewTime(at), types.UID(pod)
		}
		b.Status.CurrentAvailable, b.Status.UnavailableAllowed = b.Status.CurrentAvailable-int32(len(pods)), 0
	}
}

func protectsNoEvictions(b *availabilityv1alpha1.PodUnavailableBudget) { lists("DELETE,UPDATE")(b) }

// lists has a budget list the operations that it protects from.
func lists(operations string) func(*availabilityv1alpha1.PodUnavailableBudget) {
	return func(b *availabilityv1alpha1.PodUnavailableBudget) {
		b.Annotations = map[string]string{availabilityv1alpha1.PubProtectOperationAnnotation: operations}
	}
}

func beingDeleted(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: noon} }

func neverCounted(b *availabilityv1alpha1.PodUnavailableBudget) { b.Status.ObservedGeneration = 0 }

func wantsNone(b *availabilityv1alpha1.PodUnavailableBudget) { b.Status.DesiredAvailable = 0 }

// TestBudgetAnswers makes sure that an answer is judged by what its author may have known when it gave it.
func TestBudgetAnswers(t *testing.T) {
	evicted := metav1.Status{Code: http.StatusTooManyRequests, Details: &metav1.StatusDetails{RetryAfterSeconds: 5, Causes: []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause}}}}
	none, one := budgetOfFour("3", 0), budgetOfFour("3", 1)
	first, again := budgetOfFour("5", 1, booking(noon, "a")), func(changes ...func(*availabilityv1alpha1.PodUnavailableBudget)) *availabilityv1alpha1.PodUnavailableBudget {
		return budgetOfFour("6", 1, append(slices.Clone(changes), booking(noon, "a"))...)
	}
	unserving := budgetPod("a", func(pod *corev1.Pod) { pod.Status.Conditions = nil })
	type budgets = []*availabilityv1alpha1.PodUnavailableBudget
	for _, tt := range []struct {
		name    string
		budgets budgets
		pods    []*corev1.Pod
		after   int // seconds
		allowed bool
		dryRun  bool
		shared  bool // the webhook is asked about the pod by another client as well
		want    []invariants.Invariant
	}{
		{"PUB-14.9: none may go", budgets{none}, []*corev1.Pod{budgetPod("a")}, 0, false, false, false, nil},
		{"PUB-14.9: one may", budgets{one}, []*corev1.Pod{budgetPod("a")}, 0, false, false, false, []invariants.Invariant{invariants.Needless}},
		{"PUB-14.9: the one that is marked may", budgets{none}, []*corev1.Pod{budgetPod("a", toDelete)}, 0, false, false, false, []invariants.Invariant{invariants.Needless}},
		{"PUB-14.9: one that is marked after it was asked about", budgets{none}, []*corev1.Pod{budgetPod("a"), budgetPod("a", toDelete)}, 0, false, false, false, nil},
		{"PUB-14.3: one that is not in service when none may go", budgets{none}, []*corev1.Pod{unserving}, 0, false, false, false, []invariants.Invariant{invariants.Needless}},
		{"PUB-15: a dry run while one may go", budgets{one}, []*corev1.Pod{budgetPod("a")}, 0, true, true, false, nil},
		{"PUB-15: a dry run while none may go", budgets{none}, []*corev1.Pod{budgetPod("a")}, 0, true, true, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-15: a dry run that books", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 0, true, true, false, []invariants.Invariant{invariants.Needless}},
		{"PUB-15: a dry run while it is booked for somebody else", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 0, true, true, true, nil},
		{"PUB-14.3: booked, and not in service", budgets{one, first}, []*corev1.Pod{unserving}, 0, true, false, false, nil},
		{"PUB-14.3: not booked, and not in service", budgets{none}, []*corev1.Pod{unserving}, 0, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-14.3: a dry run, not in service", budgets{none}, []*corev1.Pod{unserving}, 0, true, true, false, nil},
		{"PUB-14.3: not booked, not in service, and nobody has counted", budgets{budgetOfFour("3", 0, neverCounted)}, []*corev1.Pod{unserving}, 0, true, false, false, nil},
		{"PUB-14.3: booked for somebody else, and not in service since", budgets{one, first}, []*corev1.Pod{unserving}, 0, true, false, true, nil},
		{"PUB-25: allowed, and not booked", budgets{one}, []*corev1.Pod{budgetPod("a")}, 0, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-25: booked", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 0, true, false, false, nil},
		{"PUB-25: booked, and denied", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 0, false, false, false, []invariants.Invariant{invariants.Needless, invariants.Needless}},
		{"PUB-25: booked long ago", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 21, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-25: booked long ago, and denied", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 21, false, false, false, nil},
		{"PUB-25: booked 5 s ago, and denied", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 5, false, false, false, []invariants.Invariant{invariants.Needless, invariants.Needless}},
		{"PUB-25: booked more than 5 s ago, and denied", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 6, false, false, false, nil},
		{"PUB-25: booked 5 s ago, or less than a second more", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 6, true, false, false, nil},
		{"PUB-25: booked more than that ago", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 7, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-25: booked long ago, and changed since", budgets{one, first, again()}, []*corev1.Pod{budgetPod("a")}, 21, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-25: booked long ago, and not in service since", budgets{one, first}, []*corev1.Pod{budgetPod("a"), unserving}, 21, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-14.3: booked long ago, and being deleted since", budgets{one, first}, []*corev1.Pod{budgetPod("a"), budgetPod("a", beingDeleted)}, 21, true, false, false, nil},
		{"PUB-14.3: booked long ago for somebody else, and not in service", budgets{one, first}, []*corev1.Pod{unserving}, 21, true, false, true, []invariants.Invariant{invariants.Availability}},
		{"PUB-25: booked long ago, perhaps for somebody else", budgets{one, first}, []*corev1.Pod{budgetPod("a")}, 21, true, false, true, []invariants.Invariant{invariants.Availability}},
		{"PUB-14.5: booked long ago, and not protected since", budgets{one, first, again(protectsNoEvictions)}, []*corev1.Pod{budgetPod("a")}, 21, true, false, false, nil},
		{"PUB-14.5: booked long ago, and not protected before", budgets{budgetOfFour("2", 1, protectsNoEvictions), one, first}, []*corev1.Pod{budgetPod("a")}, 21, true, false, false, []invariants.Invariant{invariants.Availability}},
		{"PUB-14.7: booked long ago, and nothing is desired since", budgets{one, first, again(wantsNone)}, []*corev1.Pod{budgetPod("a")}, 21, true, false, false, nil},
		{"PUB-14.4: booked long ago, and the budget is gone since", budgets{one, first, nil}, []*corev1.Pod{budgetPod("a")}, 21, true, false, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			past := invariants.NewPast()
			countPods(past, budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e"))
			if slices.Contains(tt.budgets, first) {
				past.BudgetWitness(&invariants.Write{By: "webhook", Verb: "patch", Resource: "podunavailablebudgets", Subresource: "status", Before: one, After: first,
					Truth: &invariants.State{Now: noon, Version: 4, Pods: map[string]*corev1.Pod{"a": tt.pods[0]}}})
			}
			a := &invariants.Answer{By: "webhook", For: "user", Operation: "EVICT", Name: "a", Budget: "web", Began: noon, Ended: seconds(tt.after), Version: 3, Allowed: tt.allowed, DryRun: tt.dryRun, Shared: tt.shared}
			if !tt.allowed {
				a.Denial = &evicted
			}
			objects := map[string][]invariants.Object{}
			for _, b := range tt.budgets {
				var object invariants.Object // nil if the budget is gone
				if b != nil {
					object = b
				}
				objects["podunavailablebudgets/web"] = append(objects["podunavailablebudgets/web"], object)
			}
			for _, pod := range tt.pods {
				objects["pods/a"] = append(objects["pods/a"], pod)
			}
			a.Cached = func(resource, name string) []invariants.Object { return objects[resource+"/"+name] }
			a.Truth = a.Cached
			got := past.BudgetAnswer(a, invariants.BudgetFeatures{})
			if diff := cmp.Diff(tt.want, broken(got)); diff != "" {
				t.Errorf("(-want +got) %s of %v", diff, got)
			}
		})
	}
}

// TestBudgetAnswersFromOldCaches makes sure that a webhook may not allow a pod to go because nothing protected it in the state
// of its cache. A controller that asks itself may. (PUB-33)
func TestBudgetAnswersFromOldCaches(t *testing.T) {
	for itself, want := range map[bool][]invariants.Invariant{false: {invariants.Availability}, true: nil} {
		objects := map[string][]invariants.Object{"podunavailablebudgets": {budgetOfFour("3", 1)}, "pods": {budgetPod("a")}}
		a := &invariants.Answer{By: "somebody", Itself: itself, Operation: "UPDATE", Name: "a", Budget: "web", Began: noon, Ended: noon, Version: 3, Allowed: true}
		a.Truth = func(resource, _ string) []invariants.Object { return objects[resource] }
		a.Cached = func(resource, _ string) []invariants.Object {
			if resource == "pods" {
				return append([]invariants.Object{budgetPod("a", untold)}, objects[resource]...)
			}
			return objects[resource]
		}
		if !itself {
			a.Operation = "EVICT"
		}
		if diff := cmp.Diff(want, broken(invariants.NewPast().BudgetAnswer(a, invariants.BudgetFeatures{}))); diff != "" {
			t.Errorf("itself %t: (-want +got) %s", itself, diff)
		}
	}
}
