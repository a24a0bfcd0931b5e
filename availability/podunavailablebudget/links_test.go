// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/workload"
)

// Of two budgets that a pod matches the first by name tells it, and the other one does not. (PUB-20, PUB-24)
func TestFirstByNameTells(t *testing.T) {
	first, second := newBudget("a", "1", bySelector), newBudget("b", "1", bySelector)
	for _, tt := range []struct {
		name    string
		of      *v1alpha1.PodUnavailableBudget
		other   *v1alpha1.PodUnavailableBudget
		related string
		want    int
	}{
		{"PUB-20: the first", first, second, "", 1},
		{"PUB-20: the second", second, first, "", 0},
		{"PUB-20: the first, and the pod names the second", first, second, "b", 0},
		{"PUB-24: the first, and the pod names one that is gone", first, second, "gone", 1},
		{"PUB-24: the second, and the pod names one that is gone", second, first, "gone", 0},
		{"PUB-24: the first, and the pod names one that is not about it", first, newBudget("b", "1", selecting("other")), "b", 1},
	} {
		pod := webPod(func(pod *corev1.Pod) { pod.Annotations = map[string]string{v1alpha1.RelatedPubAnnotation: tt.related} })
		s := snapshotOf(tt.of, pod)
		s.Others = []*v1alpha1.PodUnavailableBudget{tt.other}
		if got := len(NewPlan(s).Link); got != tt.want {
			t.Errorf("%s: %d pods are told, want %d", tt.name, got, tt.want)
		}
	}
}

// A pod may name a budget of another kind of workload. Once it is known what the pod comes from, it is told of the budget that is about
// it. (PUB-24)
func TestToldOfTheRightKind(t *testing.T) {
	other := newBudget("b", "1", targeting("shop.io/v1", "Widget", "web"))
	replicaSet := &budget.Workload{GroupKind: workload.ReplicaSets, Name: "web-1", UID: "rs"}
	of := func(ref metav1.OwnerReference) *budget.Workload {
		under := *replicaSet
		under.Controller = &ref
		return &under
	}
	for _, tt := range []struct {
		name      string
		workloads []*budget.Workload
		want      int
	}{
		{"PUB-24: nothing is known of its ReplicaSet", nil, 0},
		{"PUB-24: its ReplicaSet stands for itself", []*budget.Workload{replicaSet}, 1},
		{"PUB-24: its ReplicaSet is of a Deployment that is not known", []*budget.Workload{of(ownerOf("apps/v1", "Deployment", "web", "deployment"))}, 0},
		{"PUB-24: its ReplicaSet is of a kind that nothing reads", []*budget.Workload{of(ownerOf("shop.io/v1", "Cart", "web", "cart"))}, 1},
		{"PUB-24: its ReplicaSet is of the one that the other budget names", []*budget.Workload{of(ownerOf("shop.io/v1", "Widget", "web", "widget"))}, 0},
	} {
		s := snapshotOf(newBudget("a", "1", bySelector), webPod(func(pod *corev1.Pod) { pod.Annotations[v1alpha1.RelatedPubAnnotation] = "b" }), tt.workloads...)
		s.Others = []*v1alpha1.PodUnavailableBudget{other}
		if got := len(NewPlan(s).Link); got != tt.want {
			t.Errorf("%s: %d pods are told, want %d", tt.name, got, tt.want)
		}
	}
}

// A pod whose owner's kind nothing reads may name a budget of another kind, since users have moved budgets. That one never counts
// it, and does not keep it from the budget that is about it. Without such a budget none judges it. (PUB-24, PUB-35)
func TestToldThoughNothingReadsItsOwner(t *testing.T) {
	for _, tt := range []struct {
		name   string
		target func(*v1alpha1.PodUnavailableBudget)
		ref    metav1.OwnerReference
		keeps  bool
	}{
		{"the kind of its owner, by name", targeting("shop.io/v1", "Gadget", "web"), ownerOf("shop.io/v2", "Gadget", "web", "gadget"), true},
		{"the kind of its owner, another name", targeting("shop.io/v1", "Gadget", "other"), ownerOf("shop.io/v1", "Gadget", "web", "gadget"), false},
		{"a Deployment, and a Gadget has it", targeting("apps/v1", "Deployment", "web"), ownerOf("shop.io/v1", "Gadget", "web", "gadget"), false},
		{"a Deployment, and a Job has it", targeting("apps/v1", "Deployment", "web"), ownerOf("batch/v1", "Job", "web", "job"), false},
		{"a Deployment, and a ReplicaSet has it that is not seen yet", targeting("apps/v1", "Deployment", "web"), ownerOf("apps/v1", "ReplicaSet", "web-1", "rs"), true},
		{"a Widget, and a ReplicaSet has it that is not seen yet", targeting("shop.io/v1", "Widget", "web"), ownerOf("apps/v1", "ReplicaSet", "web-1", "rs"), true},
	} {
		pod := webPod(func(pod *corev1.Pod) {
			pod.OwnerReferences, pod.Annotations = []metav1.OwnerReference{tt.ref}, map[string]string{v1alpha1.RelatedPubAnnotation: "b"}
		})
		named, about := newBudget("b", "0", tt.target), newBudget("a", "1", bySelector)
		s := snapshotOf(about, pod)
		s.Others = []*v1alpha1.PodUnavailableBudget{named}
		if told := len(NewPlan(s).Link) > 0; told == tt.keeps {
			t.Errorf("PUB-24: it names a budget of %s: told of the one that selects it: %t", tt.name, told)
		}
		named.Generation, named.Status = 1, v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 1, CurrentAvailable: 1, DesiredAvailable: 1}
		if d := budget.Decide(named, pod, budget.Request{Operation: v1alpha1.PubDeleteOperation}); d.Allowed == tt.keeps {
			t.Errorf("PUB-35: it names a budget of %s: may be deleted: %t (%s)", tt.name, d.Allowed, d.Reason)
		}
	}
}

// A pod of a ReplicaSet may name the budget of a Deployment from which it does not come, since users have copied the annotation. That budget
// does not count it. Once that is sure, the name goes, unless another budget is about the pod, which then writes its own. (PUB-47)
func TestUntold(t *testing.T) {
	rs := func(controller *metav1.OwnerReference) *budget.Workload {
		return &budget.Workload{GroupKind: workload.ReplicaSets, Name: "web-1", UID: "rs", Controller: controller}
	}
	other, web := ownerOf("apps/v1", "Deployment", "other", "other"), ownerOf("apps/v1", "Deployment", "web", "web")
	deployment := &budget.Workload{GroupKind: workload.Deployments, Name: "other", UID: "other"}
	gone := *deployment
	gone.Deleting = true
	for _, tt := range []struct {
		name      string
		workloads []*budget.Workload
		beside    *v1alpha1.PodUnavailableBudget
		age       time.Duration
		edit      func(*corev1.Pod)
		want      int
		after     time.Duration
	}{
		{name: "of another Deployment", workloads: []*budget.Workload{rs(&other), deployment}, want: 1},
		{name: "of a ReplicaSet that a Deployment may adopt", workloads: []*budget.Workload{rs(nil)}, age: time.Hour},
		{name: "of the Deployment itself, which is not seen yet", workloads: []*budget.Workload{rs(&web)}},
		{name: "of a ReplicaSet that is not seen yet", after: time.Minute},
		{name: "of a ReplicaSet that is not seen for long", age: time.Hour},
		{name: "of a Deployment that is not seen yet", workloads: []*budget.Workload{rs(&other)}, age: 20 * time.Second, after: 40 * time.Second},
		{name: "of a Deployment that is gone", workloads: []*budget.Workload{rs(&other), &gone}, age: time.Hour},
		{name: "another budget selects it", workloads: []*budget.Workload{rs(&other), deployment}, beside: newBudget("z", "1", bySelector)},
		{name: "another budget names its Deployment", workloads: []*budget.Workload{rs(&other), deployment}, beside: newBudget("a", "1", targeting("apps/v1", "Deployment", "other"))},
		{name: "another budget is about others", workloads: []*budget.Workload{rs(&other), deployment}, beside: newBudget("a", "1", selecting("cart")), want: 1},
		{name: "a kind that the budget never counts, which judges it not", edit: func(pod *corev1.Pod) { pod.OwnerReferences[0] = ownerOf("batch/v1", "Job", "web", "job") }},
		{name: "it names another budget", workloads: []*budget.Workload{rs(&other), deployment}, edit: func(pod *corev1.Pod) { pod.Annotations[v1alpha1.RelatedPubAnnotation] = "a" }},
	} {
		pod := webPod(func(pod *corev1.Pod) { pod.CreationTimestamp.Time = at.Add(-tt.age) })
		if tt.edit != nil {
			tt.edit(pod)
		}
		b := newBudget("web", "0", targeting("apps/v1", "Deployment", "web"))
		b.Generation, b.Status = 1, v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 1, CurrentAvailable: 1, DesiredAvailable: 1}
		s := snapshotOf(b, pod, tt.workloads...)
		s.Mirror = MirrorNone
		if tt.beside != nil {
			s.Others = []*v1alpha1.PodUnavailableBudget{tt.beside}
		}
		plan := NewPlan(s)
		if len(plan.Untell) != tt.want || plan.RequeueAfter != tt.after {
			t.Errorf("%s: the name is taken off %d pods, and looked at again after %v; want %d, %v", tt.name, len(plan.Untell), plan.RequeueAfter, tt.want, tt.after)
		}
	}
}

// A pod that has come to name another budget since it was seen keeps that. (PUB-24)
func TestToldByAnotherMeanwhile(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(1)
		c.createBudget(newBudget("other", "1", selecting("web")))
		c.createBudget(newBudget("web", "1"))
		var told atomic.Bool
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "patch pods" && told.CompareAndSwap(false, true) {
				c.PatchPod("a", `{"metadata":{"annotations":{"kruise.io/related-pub":"other"}}}`)
			}
			return nil
		})
		_, stop := c.start(func(o *Options) { o.Workers = 1 })
		defer stop()
		c.Sleep("1s")
		c.webPods("a")
		c.Sleep("1s")
		if got := relatedTo(c.livePod("a")); !told.Load() || got != "other" {
			t.Errorf("PUB-24: it names %q, told meanwhile: %t", got, told.Load())
		}
	})
}
