// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/client/fake"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

func servingPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{v1alpha1.RelatedPubAnnotation: "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "nginx:1"}}},
	}
}

func budgetOfThree() *v1alpha1.PodUnavailableBudget {
	return &v1alpha1.PodUnavailableBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: map[string]string{v1alpha1.PubProtectTotalReplicasAnnotation: "3"}},
		Spec: v1alpha1.PodUnavailableBudgetSpec{
			Selector:       &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			MaxUnavailable: ptr.To(intstr.FromInt32(1)),
		},
		Status: v1alpha1.PodUnavailableBudgetStatus{ObservedGeneration: 1, TotalReplicas: 3, DesiredAvailable: 2, CurrentAvailable: 3, UnavailableAllowed: 1},
	}
}

// A controller of your own asks before it takes pods down, as a webhook would be asked.
func ExampleGuard_Allow() {
	availability := fake.NewClient(budgetOfThree())
	informer := client.NewPodUnavailableBudgetInformer(availability, "shop", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	guard, err := podunavailablebudget.NewGuard(podunavailablebudget.GuardOptions{
		Availability: availability, Budgets: client.NewPodUnavailableBudgetLister(informer.GetIndexer()), // which may be empty still
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"web-0", "web-1"} {
		decision, err := guard.Allow(context.Background(), servingPod(name), v1alpha1.PubDeleteOperation)
		fmt.Println(name, decision.Allowed, decision.Reason, err)
	}
	// Output:
	// web-0 true 1 may go <nil>
	// web-1 false pub unavailable allowed is negative <nil>
}

// What a budget comes to once one of its pods is not ready, and what its controller does.
func ExampleNewPlan() {
	b, pods := budgetOfThree(), []*corev1.Pod{servingPod("web-0"), servingPod("web-1"), servingPod("web-2")}
	pods[1].Status.Conditions[0].Status = corev1.ConditionFalse
	pods[2].Annotations = nil
	fmt.Println(podunavailablebudget.NewPlan(&podunavailablebudget.Snapshot{Budget: b, Pods: pods, Workloads: budget.Workloads{}}))
	// Output:
	// link web-2
	// status: 1 of 3 available, 2 desired, 0 allowed
	// unavailable web-1: it is not ready
	// unavailable web-2: it is still to be told of its budget
}
