// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/workload"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// BenchmarkPodEvent measures what an event of a pod costs. "event" is to find the pod's budgets among those of its namespace, which each event
// does. "count" is to count a budget anew. That is done once for all events of SettleTime, which is 20 times as long as counting takes. Every pod
// is of a CloneSet that has a budget of its own.
func BenchmarkPodEvent(b *testing.B) {
	for _, bb := range []struct{ budgets, pods int }{{1, 10}, {1, 1000}, {1, 5000}, {100, 50}, {1000, 5}} {
		for _, by := range []string{"selector", "targetRef"} {
			for _, part := range []string{"event", "count"} {
				b.Run(fmt.Sprintf("%d budgets of %d pods by %s/%s", bb.budgets, bb.pods, by, part), func(b *testing.B) {
					w := newCrowdedNamespace(b, bb.budgets, bb.pods, by)
					for i := 0; b.Loop(); i++ {
						w.event(i, part == "count")
					}
				})
			}
		}
	}
}

// crowdedNamespace is the namespace of a benchmark.
type crowdedNamespace struct {
	b          testing.TB
	reconciler Reconciler
	options    Options
	pods       cache.Indexer
	all        []*corev1.Pod
}

func newCrowdedNamespace(b testing.TB, budgets, pods int, by string) *crowdedNamespace {
	reader := caches.Reader{}
	for _, resource := range []Resource{ResourceBudgets, ResourcePods, resourceOf(workload.CloneSets)} {
		reader[resource] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace)
	}
	w := &crowdedNamespace{b: b, pods: reader[ResourcePods]}
	for i := range budgets {
		name := fmt.Sprint("web-", i)
		owner := ownerOf("apps.kruise.io/v1alpha1", "CloneSet", name, "uid-"+name)
		of := map[string]string{"selector": "app=", "targetRef": "target="}[by] + name
		_ = reader[resourceOf(workload.CloneSets)].Add(&workloadsv1alpha1.CloneSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: owner.UID},
			Spec:       workloadsv1alpha1.CloneSetSpec{Replicas: new(int32(pods)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}},
		})
		_ = reader[ResourceBudgets].Add(newBudget(name, "1", of))
		for j := range pods {
			pod := webPod("app="+name, "names="+name)
			pod.Name, pod.OwnerReferences = fmt.Sprint(name, "-", j), []metav1.OwnerReference{owner}
			pod.UID = types.UID(pod.Name)
			_ = w.pods.Add(pod)
			w.all = append(w.all, pod)
		}
	}
	server := fakecluster.New(nil, append(slices.Clone(others), budgetResource)...)
	o := Options{ControllerOptions: podwright.ControllerOptions{Reader: reader}, Kubernetes: fixture.Connect(b, server, "test", kubernetes.NewForConfig),
		Availability: fixture.Connect(b, server, "test", client.NewForConfig)}
	w.options = o
	var err error
	if w.reconciler, err = NewReconciler(o); err != nil {
		b.Fatal(err)
	}
	return w
}

// key is that of a budget.
func (w *crowdedNamespace) key(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: fmt.Sprint("web-", i)}
}

// event has a pod become unready, or ready again, and counts its budget anew if it is to.
func (w *crowdedNamespace) event(i int, count bool) {
	before := w.all[i/2%len(w.all)]
	after := before.DeepCopy()
	after.Status.Conditions[0].Status = []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue}[i%2]
	after.ResourceVersion = fmt.Sprint(i)
	w.all[i/2%len(w.all)] = after
	_ = w.pods.Update(after)
	found := 0
	w.options.podChanged(before, after, func(key types.NamespacedName) {
		if found++; !count {
			return
		}
		plan, err := w.reconciler.Plan(context.Background(), key)
		if err != nil || plan.Problem != nil || plan.Computed.UnavailableAllowed != int32(i%2) {
			w.b.Fatalf("event %d: %v, plan %v", i, err, plan)
		}
	})
	if found != 1 {
		w.b.Fatalf("%d budgets were found", found)
	}
}
