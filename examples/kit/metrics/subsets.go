// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// Subsets measures the subsets of UnitedDeployments. It is the SubsetMetrics of their Options. NewSubsets makes it.
type Subsets struct{ wanted, current, ready *prometheus.GaugeVec }

// NewSubsets registers the metrics.
func NewSubsets(registry prometheus.Registerer) *Subsets {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "podwright_uniteddeployment_subset_" + name, Help: help},
			[]string{"namespace", "name", "subset"}))
	}
	return &Subsets{
		wanted:  gauge("replicas_desired", "Pods that a subset of a UnitedDeployment is to have"),
		current: gauge("replicas", "Pods that a subset of a UnitedDeployment has"),
		ready:   gauge("replicas_ready", "Ready pods of a subset of a UnitedDeployment"),
	}
}

// Subsets takes the state of the subsets of a UnitedDeployment in the place of what was there before.
func (s *Subsets) Subsets(of types.NamespacedName, subsets []uniteddeployment.SubsetState) {
	for _, gauge := range []*prometheus.GaugeVec{s.wanted, s.current, s.ready} {
		gauge.DeletePartialMatch(prometheus.Labels{"namespace": of.Namespace, "name": of.Name})
	}
	for _, subset := range subsets {
		labels := []string{of.Namespace, of.Name, subset.Name}
		s.wanted.WithLabelValues(labels...).Set(float64(subset.Wanted))
		s.current.WithLabelValues(labels...).Set(float64(subset.Replicas))
		s.ready.WithLabelValues(labels...).Set(float64(subset.Ready))
	}
}
