// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Terminations measures how soon pods end whose sidecars were terminated. It is the PodMetrics of the sidecar
// terminator's Options. NewTerminations makes it.
type Terminations struct{ seconds prometheus.Histogram }

// NewTerminations registers the metrics.
func NewTerminations(registry prometheus.Registerer) *Terminations {
	return &Terminations{register(registry, prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "podwright_sidecarterminator_main_exit_to_complete_seconds", Help: "Time from the end of the last main container of a pod to its own",
		Buckets: prometheus.ExponentialBuckets(0.5, 2, 12), // to about seventeen minutes
	}))}
}

// Ended counts a pod that has ended.
func (t *Terminations) Ended(mainExitToComplete time.Duration) {
	t.seconds.Observe(mainExitToComplete.Seconds())
}
