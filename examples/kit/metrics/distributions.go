// SPDX-License-Identifier: Apache-2.0

package metrics

import "github.com/prometheus/client_golang/prometheus"

// Distributions measures how many namespaces have their copies. It is the TargetMetrics of the Options of
// ResourceDistributions. NewDistributions makes it.
type Distributions struct{ targets *prometheus.GaugeVec }

// NewDistributions registers the metrics.
func NewDistributions(registry prometheus.Registerer) *Distributions {
	return &Distributions{targets: register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "podwright_resourcedistribution_targets", Help: "Namespaces that a ResourceDistribution selects, by whether they have their copy",
	}, []string{"resourcedistribution", "result"}))}
}

// Counted shows the numbers of a ResourceDistribution.
func (d *Distributions) Counted(distribution string, succeeded, failed int) {
	d.targets.WithLabelValues(distribution, "succeeded").Set(float64(succeeded))
	d.targets.WithLabelValues(distribution, "failed").Set(float64(failed))
}

// Gone drops the numbers of a ResourceDistribution.
func (d *Distributions) Gone(distribution string) {
	d.targets.DeletePartialMatch(prometheus.Labels{"resourcedistribution": distribution})
}
