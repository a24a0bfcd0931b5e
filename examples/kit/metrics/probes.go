// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Probes measures the probes that an agent runs. It is the ProbeMetrics of the Options of its probes. NewProbes makes it.
type Probes struct {
	runs    *prometheus.CounterVec
	seconds prometheus.Histogram
}

// NewProbes registers the metrics.
func NewProbes(registry prometheus.Registerer) *Probes {
	return &Probes{
		runs: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_podprobe_runs_total", Help: "Runs of probes that had a result: Succeeded, Failed, or Ended if the container has"}, []string{"result"})),
		seconds: register(registry, prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "podwright_podprobe_run_seconds", Help: "Time that a run of a probe took which had a result",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 12)})), // to about ten seconds
	}
}

// Probed counts a run.
func (p *Probes) Probed(result string, took time.Duration) {
	if result == "" {
		result = "Ended"
	}
	p.runs.WithLabelValues(result).Inc()
	p.seconds.Observe(took.Seconds())
}
