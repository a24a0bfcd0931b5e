// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Schedules measures how well AdvancedCronJobs keep to their schedules. It is the ScheduleMetrics of their Options.
// NewSchedules makes it.
type Schedules struct {
	late   prometheus.Histogram
	missed prometheus.Counter
}

// NewSchedules registers the metrics.
func NewSchedules(registry prometheus.Registerer) *Schedules {
	return &Schedules{
		late: register(registry, prometheus.Histogram(prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "podwright_advancedcronjob_creation_delay_seconds", Help: "Time from the scheduled time of a job to its creation",
			Buckets: prometheus.ExponentialBuckets(1./32, 2, 15), // to about nine minutes
		}))),
		missed: register(registry, prometheus.Counter(prometheus.NewCounter(prometheus.CounterOpts{
			Name: "podwright_advancedcronjob_missed_total", Help: "Scheduled times for which no job was created",
		}))),
	}
}

// Started counts a job that was created.
func (s *Schedules) Started(late time.Duration) { s.late.Observe(late.Seconds()) }

// Missed counts scheduled times without a job.
func (s *Schedules) Missed(times int) { s.missed.Add(float64(times)) }
