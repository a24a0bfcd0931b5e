// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// Spreads measures how pods are spread. It is the SpreadMetrics of the Options of WorkloadSpreads. NewSpreads makes it.
type Spreads struct{ replicas, missing, schedulable *prometheus.GaugeVec }

// NewSpreads registers the metrics.
func NewSpreads(registry prometheus.Registerer) *Spreads {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "podwright_workloadspread_subset_" + name, Help: help},
			[]string{"namespace", "name", "subset"}))
	}
	return &Spreads{
		replicas:    gauge("replicas", "Pods of a subset of a WorkloadSpread that have not ended"),
		missing:     gauge("replicas_missing", "Pods that a subset of a WorkloadSpread takes beside those that it has, none if it has no limit"),
		schedulable: gauge("schedulable", "Whether a subset of a WorkloadSpread takes new pods: 1 or 0"),
	}
}

// Counted shows a status in the place of what was there before.
func (s *Spreads) Counted(namespace, spread string, status *v1alpha1.WorkloadSpreadStatus) {
	s.Gone(namespace, spread)
	for i := range status.SubsetStatuses {
		subset := &status.SubsetStatuses[i]
		labels, open := []string{namespace, spread, subset.Name}, 1.0
		for _, c := range subset.Conditions {
			if c.Type == v1alpha1.SubsetSchedulable && c.Status == corev1.ConditionFalse {
				open = 0
			}
		}
		s.replicas.WithLabelValues(labels...).Set(float64(subset.Replicas))
		s.schedulable.WithLabelValues(labels...).Set(open)
		if subset.MissingReplicas >= 0 {
			s.missing.WithLabelValues(labels...).Set(float64(subset.MissingReplicas))
		}
	}
}

// Gone drops the numbers of a WorkloadSpread.
func (s *Spreads) Gone(namespace, spread string) {
	for _, gauge := range []*prometheus.GaugeVec{s.replicas, s.missing, s.schedulable} {
		gauge.DeletePartialMatch(prometheus.Labels{"namespace": namespace, "name": spread})
	}
}
