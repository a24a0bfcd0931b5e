// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	availabilityv1alpha1 "github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func untold(pod *corev1.Pod) { pod.Annotations = nil }

// answerAbout is the answer of a webhook that lets a pod go, and what has become of the budget meanwhile.
func answerAbout(pod *corev1.Pod, budgets ...invariants.Object) *invariants.Answer {
	a := &invariants.Answer{By: "webhook", For: "user", Operation: "EVICT", Name: pod.Name, Budget: "web", Began: noon, Ended: noon, Version: 2, Allowed: true}
	a.Truth = func(resource, _ string) []invariants.Object {
		if resource == "pods" {
			return []invariants.Object{pod}
		}
		return budgets
	}
	a.Cached = a.Truth
	return a
}

// countPods has a controller count pods, of which four are wanted.
func countPods(past *invariants.Past, pods ...*corev1.Pod) *invariants.State {
	state := &invariants.State{Now: noon, Version: 2, Pods: map[string]*corev1.Pod{}}
	for _, pod := range pods {
		state.Pods[pod.Name] = pod
	}
	state.Workload = budgetOfFour("2", 0, func(b *availabilityv1alpha1.PodUnavailableBudget) {
		b.Status = availabilityv1alpha1.PodUnavailableBudgetStatus{}
	})
	state.Beside = map[string]invariants.Object{"clonesets": &v1alpha1.CloneSet{ObjectMeta: webSet, Spec: v1alpha1.CloneSetSpec{Replicas: new(int32(4))}}}
	past.Budget(&invariants.Write{Verb: "patch", Resource: "podunavailablebudgets", Subresource: "status",
		Before: state.Workload, After: budgetOfFour("3", 0), Truth: state, Known: state, Observed: state})
	return state
}

// TestBudgetOfSuccessor makes sure that pods of a workload that no cache has are counted for a minute. They count also while another
// workload of its name is being deleted, but not beside one that lives. (PUB-3)
func TestBudgetOfSuccessor(t *testing.T) {
	gone := func(set *v1alpha1.CloneSet) { set.DeletionTimestamp = &metav1.Time{Time: noon} }
	unknown := availabilityv1alpha1.PodUnavailableBudgetStatus{TotalReplicas: 1, DesiredAvailable: 4, CurrentAvailable: 1}
	for _, tt := range []struct {
		name string
		age  time.Duration
		set  func(*v1alpha1.CloneSet)
		want availabilityv1alpha1.PodUnavailableBudgetStatus
	}{
		{"PUB-3: one of the name is being deleted", 59 * time.Second, gone, unknown},
		{"PUB-3: the pods are a minute old", time.Minute, gone, availabilityv1alpha1.PodUnavailableBudgetStatus{}},
		{"PUB-3: one of the name lives", time.Second, func(*v1alpha1.CloneSet) {}, availabilityv1alpha1.PodUnavailableBudgetStatus{TotalReplicas: 4, DesiredAvailable: 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := budgetPod("a", func(pod *corev1.Pod) {
				pod.OwnerReferences = []metav1.OwnerReference{{Kind: "CloneSet", Name: "web", UID: "successor", Controller: new(true)}}
				pod.CreationTimestamp = metav1.NewTime(noon.Add(-tt.age))
			})
			set := &v1alpha1.CloneSet{ObjectMeta: webSet, Spec: v1alpha1.CloneSetSpec{Replicas: new(int32(4))}}
			tt.set(set)
			state := &invariants.State{Now: noon, Version: 2, Pods: map[string]*corev1.Pod{"a": pod}, Beside: map[string]invariants.Object{"clonesets": set}}
			state.Workload = budgetOfFour("2", 0, func(b *availabilityv1alpha1.PodUnavailableBudget) {
				b.Status = availabilityv1alpha1.PodUnavailableBudgetStatus{}
			})
			for _, status := range []availabilityv1alpha1.PodUnavailableBudgetStatus{tt.want, {TotalReplicas: 9}} {
				after := budgetOfFour("3", 0, func(b *availabilityv1alpha1.PodUnavailableBudget) { b.Status = status })
				got := invariants.NewPast().Budget(&invariants.Write{Verb: "patch", Resource: "podunavailablebudgets", Subresource: "status",
					Before: state.Workload, After: after, Truth: state, Known: state, Observed: state})
				if right := status.TotalReplicas != 9; right != (len(got) == 0) {
					t.Errorf("%+v: %v", status, got)
				}
			}
		})
	}
}

// TestBudgetBookings makes sure that no more pods are booked than may go, of those that were counted.
func TestBudgetBookings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pods   []*corev1.Pod // when they were counted
		marked string        // a pod that is marked for deletion then
		booked []string
		want   []invariants.Invariant
	}{
		{"one more than have to stay", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e")}, "", []string{"a"}, nil},
		{"two more", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e")}, "", []string{"a", "b"}, []invariants.Invariant{invariants.Availability}},
		{"PUB-13: another one than the one that is marked", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e", toDelete)}, "", []string{"a"}, []invariants.Invariant{invariants.Availability}},
		{"PUB-14.9: the one that is marked", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e", toDelete)}, "", []string{"e"}, nil},
		{"PUB-14.9: one that was marked since, and that another one stands in for", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e", toDelete)}, "a", []string{"a"}, nil},
		{"PUB-13: and one more", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e", toDelete)}, "a", []string{"a", "e"}, []invariants.Invariant{invariants.Availability}},
		{"PUB-14.11: one that was marked since, and one above the total with it",
			[]*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e"), budgetPod("f", toDelete)}, "a", []string{"a", "b"}, []invariants.Invariant{invariants.Availability}},
		{"PUB-9: while one is still to be told", []*corev1.Pod{budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e", untold)}, "", []string{"a"}, []invariants.Invariant{invariants.Availability}},
		{"PUB-9: one that is marked, while the one that replaces it is still to be told",
			[]*corev1.Pod{budgetPod("a", toDelete), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e", untold)}, "", []string{"a"}, []invariants.Invariant{invariants.Availability}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			past := invariants.NewPast()
			state := countPods(past, tt.pods...)
			if pod := state.Pods[tt.marked]; pod != nil {
				after := pod.DeepCopy()
				toDelete(after)
				past.Observe(&invariants.Change{Resource: "pods", Before: pod, After: after})
			}
			var got []invariants.Violation
			before := budgetOfFour("3", 1)
			for i, name := range tt.booked {
				after := budgetOfFour(strconv.Itoa(4+i), 1, booking(noon, tt.booked[:i+1]...))
				got = append(got, past.BudgetWitness(&invariants.Write{Verb: "patch", Resource: "podunavailablebudgets", Subresource: "status", Before: before, After: after, Truth: state, By: "webhook"})...)
				got = append(got, past.BudgetAnswer(answerAbout(state.Pods[name], before, after), invariants.BudgetFeatures{})...)
				before = after
				if len(got) > 0 && i < len(tt.booked)-1 {
					t.Errorf("pod %s: %v", name, got)
				}
			}
			if diff := cmp.Diff(tt.want, broken(got)); diff != "" {
				t.Errorf("(-want +got) %s of %v", diff, got)
			}
		})
	}
}

// TestBudgetBookedSince makes sure that a pod which is booked again says since when it is booked. It is booked anew after a minute,
// also in the second in which it was booked last.
func TestBudgetBookedSince(t *testing.T) {
	recorded := func(uid types.UID, at, since int) *availabilityv1alpha1.PodUnavailableBudget {
		return budgetOfFour("3", 1, booking(seconds(at), "a"), func(b *availabilityv1alpha1.PodUnavailableBudget) {
			b.Status.PodUIDs["a"] = uid
			if since != at {
				b.Status.BookedSince = map[string]metav1.Time{"a": metav1.NewTime(seconds(since))}
			}
		})
	}
	wrong := []invariants.Invariant{invariants.Status}
	for _, tt := range []struct {
		name          string
		before, after *availabilityv1alpha1.PodUnavailableBudget
		want          []invariants.Invariant
	}{
		{"PUB-14.8: again", recorded("a", -10, -10), recorded("a", 0, -10), nil},
		{"PUB-14.8: once more", recorded("a", -10, -30), recorded("a", 0, -30), nil},
		{"PUB-14.8: anew, too early", recorded("a", -10, -59), recorded("a", 0, 0), wrong},
		{"PUB-14.8: anew", recorded("a", -10, -60), recorded("a", 0, 0), nil},
		{"PUB-14.8: anew in the same second", recorded("a", 0, -60), recorded("a", 0, 0), nil},
		{"PUB-14.8: since another time", recorded("a", -10, -60), recorded("a", 0, -50), wrong},
		{"PUB-16: another pod of its name", recorded("b", -10, -30), recorded("a", 0, 0), nil},
		{"PUB-16: another pod of its name, since that one was", recorded("b", -10, -30), recorded("a", 0, -30), wrong},
		{"PUB-16: nothing", recorded("a", 0, -60), recorded("a", 0, -60), wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			past := invariants.NewPast()
			state := countPods(past, budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e"))
			got := past.BudgetWitness(&invariants.Write{Verb: "patch", Resource: "podunavailablebudgets", Subresource: "status", Before: tt.before, After: tt.after, Truth: state, By: "webhook"})
			if diff := cmp.Diff(tt.want, broken(got)); diff != "" {
				t.Errorf("(-want +got) %s of %v", diff, got)
			}
		})
	}
}
