// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"sync/atomic"
	"testing"

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
		{"PUB-24: its ReplicaSet is of a workload that is not known", []*budget.Workload{of(ownerOf("shop.io/v1", "Cart", "web", "cart"))}, 0},
		{"PUB-24: its ReplicaSet is of the one that the other budget names", []*budget.Workload{of(ownerOf("shop.io/v1", "Widget", "web", "widget"))}, 0},
	} {
		s := snapshotOf(newBudget("a", "1", bySelector), webPod(func(pod *corev1.Pod) { pod.Annotations[v1alpha1.RelatedPubAnnotation] = "b" }), tt.workloads...)
		s.Others = []*v1alpha1.PodUnavailableBudget{other}
		if got := len(NewPlan(s).Link); got != tt.want {
			t.Errorf("%s: %d pods are told, want %d", tt.name, got, tt.want)
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
