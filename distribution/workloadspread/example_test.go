// SPDX-License-Identifier: Apache-2.0

package workloadspread_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/distribution/workloadspread"
)

// A CustomKind adds workloads that make ReplicaSets as Deployments do, and the rights that they take.
func ExampleCustomKind() {
	rollouts := workloadspread.CustomKind{
		Kind:     schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Rollout"},
		Resource: "rollouts", ReplicasPath: "spec.size",
		Between:  false, // a WorkloadSpread may name it
		Informer: nil,   // the controller makes one
	}
	for _, rule := range workloadspread.Rules(workloadspread.Options{Custom: []workloadspread.CustomKind{rollouts}}) {
		if slices.Contains(rule.APIGroups, "example.com") {
			fmt.Println(rule.Verbs, rule.Resources)
		}
	}
	// Output: [list watch] [rollouts]
}

// What the controller does about two pods of which the first is on a node of one's own.
func ExampleNewPlan() {
	pod := func(name, subset string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			v1alpha1.MatchedWorkloadSpreadAnnotation: fmt.Sprintf(`{"name":"web","subset":%q}`, subset)}}}
	}
	fmt.Println(workloadspread.NewPlan(&workloadspread.Snapshot{
		Spread: &v1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.WorkloadSpreadSpec{
			TargetReference: &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			Subsets:         []v1alpha1.WorkloadSpreadSubset{{Name: "own", MaxReplicas: ptr.To(intstr.FromInt32(2))}, {Name: "rented"}},
		}},
		Workload: &spread.Workload{GroupKind: spread.Deployments, Name: "web", Replicas: ptr.To[int32](2)},
		Pods:     []*corev1.Pod{pod("web-0", "own"), pod("web-1", "rented")},
	}))
	// Output:
	// patch web-0 of own: controller.kubernetes.io/pod-deletion-cost=200
	// patch web-1 of rented: controller.kubernetes.io/pod-deletion-cost=100
	// status: own has 1, misses 1; rented has 1
}
