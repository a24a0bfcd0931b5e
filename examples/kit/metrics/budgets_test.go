// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/podwright/podwright/availability/podunavailablebudget"
	"github.com/podwright/podwright/availability/v1alpha1"
)

var (
	_ podunavailablebudget.BudgetMetrics   = (*Budgets)(nil)
	_ podunavailablebudget.DecisionMetrics = (*Budgets)(nil)
)

func TestBudgets(t *testing.T) {
	registry := prometheus.NewRegistry()
	b := NewBudgets(registry)
	b.Counted("shop", "gone", &v1alpha1.PodUnavailableBudgetStatus{TotalReplicas: 7})
	b.Counted("shop", "web", &v1alpha1.PodUnavailableBudgetStatus{TotalReplicas: 6})
	b.Counted("shop", "web", &v1alpha1.PodUnavailableBudgetStatus{TotalReplicas: 5, CurrentAvailable: 4, DesiredAvailable: 3, UnavailableAllowed: 1})
	b.Decided("shop", "web", v1alpha1.PubEvictOperation, true, time.Millisecond)
	b.Decided("shop", "web", v1alpha1.PubEvictOperation, false, time.Millisecond)
	b.Decided("shop", "web", v1alpha1.PubEvictOperation, false, time.Millisecond)
	b.Decided("shop", "gone", v1alpha1.PubDeleteOperation, true, time.Second)
	b.Decided("bank", "gone", v1alpha1.PubDeleteOperation, false, time.Second)
	NewBudgets(registry).Gone("shop", "gone")
	const want = `
# HELP podwright_podunavailablebudget_current_available Pods of a PodUnavailableBudget that are available
# TYPE podwright_podunavailablebudget_current_available gauge
podwright_podunavailablebudget_current_available{namespace="shop",podunavailablebudget="web"} 4
# HELP podwright_podunavailablebudget_decisions_total Answers to who is about to delete, evict or update a pod of a PodUnavailableBudget, by the result: allowed or denied
# TYPE podwright_podunavailablebudget_decisions_total counter
podwright_podunavailablebudget_decisions_total{namespace="bank",operation="DELETE",podunavailablebudget="gone",result="denied"} 1
podwright_podunavailablebudget_decisions_total{namespace="shop",operation="EVICT",podunavailablebudget="web",result="allowed"} 1
podwright_podunavailablebudget_decisions_total{namespace="shop",operation="EVICT",podunavailablebudget="web",result="denied"} 2
# HELP podwright_podunavailablebudget_desired_available Pods of a PodUnavailableBudget that have to be available
# TYPE podwright_podunavailablebudget_desired_available gauge
podwright_podunavailablebudget_desired_available{namespace="shop",podunavailablebudget="web"} 3
# HELP podwright_podunavailablebudget_total_replicas Pods that the workloads of a PodUnavailableBudget want
# TYPE podwright_podunavailablebudget_total_replicas gauge
podwright_podunavailablebudget_total_replicas{namespace="shop",podunavailablebudget="web"} 5
# HELP podwright_podunavailablebudget_unavailable_allowed Available pods of a PodUnavailableBudget that may be disrupted
# TYPE podwright_podunavailablebudget_unavailable_allowed gauge
podwright_podunavailablebudget_unavailable_allowed{namespace="shop",podunavailablebudget="web"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "podwright_podunavailablebudget_current_available", "podwright_podunavailablebudget_decisions_total",
		"podwright_podunavailablebudget_desired_available", "podwright_podunavailablebudget_total_replicas", "podwright_podunavailablebudget_unavailable_allowed"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(b.took); n != 2 {
		t.Errorf("%d histograms of how long answers took, want one for each operation", n)
	}
}
