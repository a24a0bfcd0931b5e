// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// SidecarSets measures how far SidecarSets have come. It is the SetMetrics of their Options. NewSidecarSets makes it.
type SidecarSets struct {
	matched, updated, ready, missed *prometheus.GaugeVec
}

// NewSidecarSets registers the metrics.
func NewSidecarSets(registry prometheus.Registerer) *SidecarSets {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"sidecarset"}))
	}
	return &SidecarSets{
		matched: gauge("podwright_sidecarset_matched_pods", "Pods that a SidecarSet has injected into"),
		updated: gauge("podwright_sidecarset_updated_pods", "Pods that have the present containers of a SidecarSet"),
		ready:   gauge("podwright_sidecarset_ready_pods", "Pods of a SidecarSet that are ready and run the images of their spec"),
		missed:  gauge("podwright_sidecarset_missed_pods", "Pods that a SidecarSet selects and that were created without its containers"),
	}
}

// Counted shows the numbers of a SidecarSet.
func (s *SidecarSets) Counted(set string, status *v1alpha1.SidecarSetStatus, notInjected int) {
	s.matched.WithLabelValues(set).Set(float64(status.MatchedPods))
	s.updated.WithLabelValues(set).Set(float64(status.UpdatedPods))
	s.ready.WithLabelValues(set).Set(float64(status.ReadyPods))
	s.missed.WithLabelValues(set).Set(float64(notInjected))
}

// Gone drops the numbers of a SidecarSet.
func (s *SidecarSets) Gone(set string) {
	for _, gauge := range []*prometheus.GaugeVec{s.matched, s.updated, s.ready, s.missed} {
		gauge.DeleteLabelValues(set)
	}
}

// Injections measures what is injected into new pods. It is the InjectionMetrics of sidecarset.Injector. NewInjections
// makes it.
type Injections struct {
	injected *prometheus.CounterVec
	refused  *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

// NewInjections registers the metrics.
func NewInjections(registry prometheus.Registerer) *Injections {
	return &Injections{
		injected: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_sidecarset_injected_total", Help: "New pods that a SidecarSet matched and that were let through"}, []string{"sidecarset"})),
		refused: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_sidecarset_refused_pods_total", Help: "New pods that were refused, since sidecars could not be injected"}, nil)),
		took: register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podwright_sidecarset_injection_seconds", Help: "How long the injection into a new pod took",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1}}, nil)),
	}
}

// Injected counts a pod.
func (i *Injections) Injected(sets []string, took time.Duration, err error) {
	i.took.WithLabelValues().Observe(took.Seconds())
	if err != nil {
		i.refused.WithLabelValues().Inc()
		return
	}
	for _, set := range sets {
		i.injected.WithLabelValues(set).Inc()
	}
}
