// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PodStates measures what is recorded of pods. It is the StateMetrics of the Options of PersistentPodStates. NewPodStates makes it.
type PodStates struct {
	recorded, refused *prometheus.GaugeVec
	replaced          *prometheus.CounterVec
}

// NewPodStates registers the metrics.
func NewPodStates(registry prometheus.Registerer) *PodStates {
	labels := []string{"namespace", "name"}
	return &PodStates{
		recorded: register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "podwright_persistentpodstate_pods", Help: "Pods of which a PersistentPodState records the place"}, labels)),
		refused: register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "podwright_persistentpodstate_pods_refused", Help: "Pods that a PersistentPodState has no room for"}, labels)),
		replaced: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_persistentpodstate_pods_replaced_total", Help: "Pods that were deleted since they waited for a node that does not exist"}, labels)),
	}
}

// Counted shows a status, and how many pods do not fit.
func (s *PodStates) Counted(namespace, name string, status *v1alpha1.PersistentPodStateStatus, refused int) {
	s.recorded.WithLabelValues(namespace, name).Set(float64(len(status.PodStates)))
	s.refused.WithLabelValues(namespace, name).Set(float64(refused))
}

// Replaced counts pods that were deleted.
func (s *PodStates) Replaced(namespace, name string, pods int) {
	s.replaced.WithLabelValues(namespace, name).Add(float64(pods))
}

// Gone drops the numbers of a PersistentPodState.
func (s *PodStates) Gone(namespace, name string) {
	s.recorded.DeleteLabelValues(namespace, name)
	s.refused.DeleteLabelValues(namespace, name)
	s.replaced.DeleteLabelValues(namespace, name)
}
