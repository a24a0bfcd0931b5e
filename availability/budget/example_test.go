// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// What a budget says of ten pods one of which is not ready, and of two evictions one after
// the other.
func Example() {
	b := newBudget()
	b.Spec.MaxUnavailable = ptr.To(intstr.FromString("20%"))
	pods := newPods(10)
	pods[9].Status.Conditions = nil // it is not ready

	web := &budget.Workload{GroupKind: schema.GroupKind{Group: "apps.kruise.io", Kind: "CloneSet"}, Name: "web", UID: "web", Replicas: ptr.To[int32](10)}
	selection, _ := budget.Select(b, pods, budget.Workloads{web.UID: web})
	now := time.Now()
	computed, _ := budget.Compute(b, selection, now)
	b.Status = computed.Status // a controller writes it
	fmt.Printf("%d of %d available, %d may go: %s %s\n", b.Status.CurrentAvailable, b.Status.TotalReplicas, b.Status.UnavailableAllowed,
		computed.Unavailable[0].Pod.Name, computed.Unavailable[0].Reason)

	for _, pod := range pods[:2] {
		d := budget.Decide(b, pod, budget.Request{Operation: v1alpha1.PubEvictOperation, Now: now})
		fmt.Printf("evict %s: %t, %s\n", pod.Name, d.Allowed, d.Reason)
		if d.Status != nil {
			b.Status = *d.Status // written before the eviction goes on
		}
	}
	// Output:
	// 9 of 10 available, 1 may go: pod-9 it is not ready
	// evict pod-0: true, 1 may go
	// evict pod-1: false, pub unavailable allowed is negative
}
