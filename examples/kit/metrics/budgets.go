// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podwright/podwright/availability/v1alpha1"
)

// ofBudgets are the labels of what is measured of each PodUnavailableBudget.
var ofBudgets = []string{"namespace", "podunavailablebudget"}

// Budgets measures what is left of PodUnavailableBudgets, and the answers about their pods: those of webhooks, and those that
// controllers ask for. It is the BudgetMetrics of podunavailablebudget.Options and the DecisionMetrics of
// podunavailablebudget.Guard. NewBudgets makes it.
type Budgets struct {
	total, desired, current, allowed *prometheus.GaugeVec
	decided                          *prometheus.CounterVec
	took                             *prometheus.HistogramVec
}

// NewBudgets registers the metrics.
func NewBudgets(registry prometheus.Registerer) *Budgets {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, ofBudgets))
	}
	return &Budgets{
		total:   gauge("podwright_podunavailablebudget_total_replicas", "Pods that the workloads of a PodUnavailableBudget want"),
		desired: gauge("podwright_podunavailablebudget_desired_available", "Pods of a PodUnavailableBudget that have to be available"),
		current: gauge("podwright_podunavailablebudget_current_available", "Pods of a PodUnavailableBudget that are available"),
		allowed: gauge("podwright_podunavailablebudget_unavailable_allowed", "Available pods of a PodUnavailableBudget that may be disrupted"),
		decided: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_podunavailablebudget_decisions_total",
			Help: "Answers to who is about to delete, evict or update a pod of a PodUnavailableBudget, by the result: allowed or denied",
		}, append([]string{"operation", "result"}, ofBudgets...))),
		took: register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podwright_podunavailablebudget_decision_seconds", Help: "How long an answer about a pod of a PodUnavailableBudget took",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1},
		}, []string{"operation"})),
	}
}

// Counted shows the numbers of a budget.
func (b *Budgets) Counted(namespace, budget string, status *v1alpha1.PodUnavailableBudgetStatus) {
	b.total.WithLabelValues(namespace, budget).Set(float64(status.TotalReplicas))
	b.desired.WithLabelValues(namespace, budget).Set(float64(status.DesiredAvailable))
	b.current.WithLabelValues(namespace, budget).Set(float64(status.CurrentAvailable))
	b.allowed.WithLabelValues(namespace, budget).Set(float64(status.UnavailableAllowed))
}

// Decided counts an answer.
func (b *Budgets) Decided(namespace, budget string, operation v1alpha1.PubOperation, allowed bool, took time.Duration) {
	result := "denied"
	if allowed {
		result = "allowed"
	}
	b.decided.WithLabelValues(string(operation), result, namespace, budget).Inc()
	b.took.WithLabelValues(string(operation)).Observe(took.Seconds())
}

// Gone drops the numbers of a budget, and the answers about its pods.
func (b *Budgets) Gone(namespace, budget string) {
	for _, gauge := range []*prometheus.GaugeVec{b.total, b.desired, b.current, b.allowed} {
		gauge.DeleteLabelValues(namespace, budget)
	}
	b.decided.DeletePartialMatch(prometheus.Labels{ofBudgets[0]: namespace, ofBudgets[1]: budget})
}
