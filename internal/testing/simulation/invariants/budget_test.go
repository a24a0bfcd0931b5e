// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

// TestBudgetResizes makes sure that a resize is told from an update, and which budgets protect from it. (PUB-14.5, PUB-19)
func TestBudgetResizes(t *testing.T) {
	sized := func(cpu, memory, image string) *corev1.Pod {
		return budgetPod("a", func(pod *corev1.Pod) {
			pod.Spec.Containers = []corev1.Container{{Name: "main", Image: image,
				Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}},
				ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "memory", RestartPolicy: corev1.RestartContainer}}}}
		})
	}
	held := sized("2", "1Gi", "nginx:1")
	held.Labels["unavailable-pod.kruise.io/aside"] = "true"
	for _, tt := range []struct {
		name, lists   string
		after         *corev1.Pod
		alone, denied bool // as the features say, and whether the list protects from it
	}{
		{"cpu, and updates are listed", "", sized("2", "1Gi", "nginx:1"), false, true},
		{"cpu, and resizes count alone", "", sized("2", "1Gi", "nginx:1"), true, false},
		{"cpu, and resizes are listed", "RESIZE", sized("2", "1Gi", "nginx:1"), true, true},
		{"cpu, and neither is", "DELETE,EVICT", sized("2", "1Gi", "nginx:1"), false, false},
		{"memory, for which the container restarts", "UPDATE", sized("1", "2Gi", "nginx:1"), true, true},
		{"the same, and resizes are listed", "RESIZE", sized("1", "2Gi", "nginx:1"), true, false},
		{"cpu and an image", "RESIZE", sized("2", "1Gi", "nginx:2"), true, false},
		{"cpu and out of service", "UPDATE", held, true, true},
	} {
		b := budgetOfFour("3", 0, lists(tt.lists))
		past := invariants.NewPast()
		countPods(past, budgetPod("a"), budgetPod("b"), budgetPod("c"), budgetPod("d"), budgetPod("e"))
		a := &invariants.Answer{By: "webhook", For: "user", Operation: "UPDATE", Name: "a", Budget: "web", Began: noon, Ended: noon, Version: 3, Allowed: true, After: tt.after}
		a.Truth = func(name, _ string) []invariants.Object {
			if name == "pods" {
				return []invariants.Object{sized("1", "1Gi", "nginx:1")}
			}
			return []invariants.Object{b}
		}
		a.Cached = a.Truth
		var want []invariants.Invariant
		if tt.denied { // and it is allowed, and not booked
			want = []invariants.Invariant{invariants.Availability}
		}
		if diff := cmp.Diff(want, broken(past.BudgetAnswer(a, invariants.BudgetFeatures{Updates: true, ResizesAlone: tt.alone}))); diff != "" {
			t.Errorf("PUB-19: %s (-want +got):\n%s", tt.name, diff)
		}
	}
}

var (
	app      = map[string]string{"app": "web"}
	webSet   = metav1.ObjectMeta{Name: "web", UID: "set"}
	webOwner = []metav1.OwnerReference{{Name: "web", UID: "set", Controller: new(true)}}
)

func templateOf(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}
}

// servingPod is available at the revision of an image.
func servingPod(name, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), OwnerReferences: webOwner,
			Labels: map[string]string{"app": "web", "controller-revision-hash": "web-" + image},
		},
		Spec:   templateOf(image).Spec,
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func broken(all []invariants.Violation) (names []invariants.Invariant) {
	for _, v := range all {
		names = append(names, v.Invariant)
	}
	return names
}
