// SPDX-License-Identifier: Apache-2.0

package uniteddeployment_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// How 10 pods are split over three zones.
func ExampleAllocate() {
	zones := []v1alpha1.Subset{{Name: "a", Replicas: new(intstr.FromString("50%"))}, {Name: "b"}, {Name: "c"}}
	for _, replicas := range []int32{10, 3} {
		a, err := uniteddeployment.Allocate(replicas, zones, map[string]int32{"b": 3, "c": 2})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(replicas, "pods:", a.Replicas)
	}
	// Output:
	// 10 pods: [5 3 2]
	// 3 pods: [2 1 0]
}

// What a controller would do about a UnitedDeployment, without a cluster.
func ExampleNewPlan() {
	labels := map[string]string{"app": "shop"}
	set := &v1alpha1.UnitedDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop", UID: "1234"}}
	set.Spec.Replicas = new(int32(5))
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	set.Spec.Topology.Subsets = []v1alpha1.Subset{{Name: "zone-a"}, {Name: "zone-b"}}
	set.Spec.Template.CloneSetTemplate = &v1alpha1.CloneSetTemplateSpec{Spec: v1alpha1.CloneSetSpec{
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "shop:1"}}}}}}
	plan := uniteddeployment.NewPlan(&uniteddeployment.Snapshot{Set: set})
	for _, subset := range plan.Subsets {
		fmt.Println(subset.Name, "gets", subset.Replicas, "pods")
	}
	fmt.Println(plan)
	// Output:
	// zone-a gets 2 pods
	// zone-b gets 3 pods
	// create revision shop-6864fc9bd7 (1)
	// create CloneSet shop-zone-a-bb6bf for zone-a with 2 pods
	// create CloneSet shop-zone-b-bb564 for zone-b with 3 pods
}
