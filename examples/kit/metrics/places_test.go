// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

func TestSpreads(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := NewSpreads(registry)
	subset := func(name string, replicas, missing int32, is corev1.ConditionStatus) v1alpha1.WorkloadSpreadSubsetStatus {
		return v1alpha1.WorkloadSpreadSubsetStatus{Name: name, Replicas: replicas, MissingReplicas: missing,
			Conditions: []v1alpha1.WorkloadSpreadSubsetCondition{{Type: v1alpha1.SubsetSchedulable, Status: is}}}
	}
	status := func(subsets ...v1alpha1.WorkloadSpreadSubsetStatus) *v1alpha1.WorkloadSpreadStatus {
		return &v1alpha1.WorkloadSpreadStatus{SubsetStatuses: subsets}
	}
	s.Counted("shop", "gone", status(subset("own", 1, 1, "True")))
	s.Counted("shop", "web", status(subset("own", 1, 1, "True"), subset("removed", 1, 1, "True")))
	NewSpreads(registry).Counted("shop", "web", status(subset("own", 3, 1, "False"), subset("rented", 6, -1, "True")))
	s.Gone("shop", "gone")
	const want = `
# HELP podwright_workloadspread_subset_replicas Pods of a subset of a WorkloadSpread that have not ended
# TYPE podwright_workloadspread_subset_replicas gauge
podwright_workloadspread_subset_replicas{name="web",namespace="shop",subset="own"} 3
podwright_workloadspread_subset_replicas{name="web",namespace="shop",subset="rented"} 6
# HELP podwright_workloadspread_subset_replicas_missing Pods that a subset of a WorkloadSpread takes beside those that it has, none if it has no limit
# TYPE podwright_workloadspread_subset_replicas_missing gauge
podwright_workloadspread_subset_replicas_missing{name="web",namespace="shop",subset="own"} 1
# HELP podwright_workloadspread_subset_schedulable Whether a subset of a WorkloadSpread takes new pods: 1 or 0
# TYPE podwright_workloadspread_subset_schedulable gauge
podwright_workloadspread_subset_schedulable{name="web",namespace="shop",subset="own"} 0
podwright_workloadspread_subset_schedulable{name="web",namespace="shop",subset="rented"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestPodStates(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := NewPodStates(registry)
	status := &v1alpha1.PersistentPodStateStatus{PodStates: map[string]v1alpha1.PodState{"web-0": {}, "web-1": {}}}
	s.Counted("shop", "gone", status, 1)
	s.Replaced("shop", "gone", 1)
	s.Counted("shop", "web", status, 3)
	s.Replaced("shop", "web", 1)
	NewPodStates(registry).Replaced("shop", "web", 1)
	s.Gone("shop", "gone")
	const want = `
# HELP podwright_persistentpodstate_pods Pods of which a PersistentPodState records the place
# TYPE podwright_persistentpodstate_pods gauge
podwright_persistentpodstate_pods{name="web",namespace="shop"} 2
# HELP podwright_persistentpodstate_pods_refused Pods that a PersistentPodState has no room for
# TYPE podwright_persistentpodstate_pods_refused gauge
podwright_persistentpodstate_pods_refused{name="web",namespace="shop"} 3
# HELP podwright_persistentpodstate_pods_replaced_total Pods that were deleted since they waited for a node that does not exist
# TYPE podwright_persistentpodstate_pods_replaced_total counter
podwright_persistentpodstate_pods_replaced_total{name="web",namespace="shop"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
