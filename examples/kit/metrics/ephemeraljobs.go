// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EphemeralJobs measures what EphemeralJobs do, and how they end. It is the JobMetrics of their Options. NewEphemeralJobs makes it.
type EphemeralJobs struct {
	injected, jobs, pods *prometheus.CounterVec
	seconds              *prometheus.HistogramVec
}

// NewEphemeralJobs registers the metrics.
func NewEphemeralJobs(registry prometheus.Registerer) *EphemeralJobs {
	by := []string{"result"}
	return &EphemeralJobs{
		injected: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_ephemeraljob_injections_total", Help: "Pods into which EphemeralJobs have tried to inject, by whether the API server has let them: served or refused",
		}, by)),
		jobs: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_ephemeraljob_jobs_finished_total", Help: "EphemeralJobs that have succeeded or failed",
		}, by)),
		pods: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_ephemeraljob_pods_finished_total", Help: "Pods of EphemeralJobs that have finished, by the result of their containers",
		}, by)),
		seconds: register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podwright_ephemeraljob_duration_seconds", Help: "Time from the start of an EphemeralJob to its end",
			Buckets: prometheus.ExponentialBuckets(1, 4, 9), // to about eighteen hours
		}, by)),
	}
}

// Injected counts pods into which a job has tried to inject.
func (j *EphemeralJobs) Injected(served, refused int) {
	j.injected.WithLabelValues("served").Add(float64(served))
	j.injected.WithLabelValues("refused").Add(float64(refused))
}

// Finished counts a job that has ended.
func (j *EphemeralJobs) Finished(phase v1alpha1.EphemeralJobPhase, succeeded, failed int32, took time.Duration) {
	j.jobs.WithLabelValues(string(phase)).Inc()
	j.seconds.WithLabelValues(string(phase)).Observe(took.Seconds())
	j.pods.WithLabelValues("succeeded").Add(float64(succeeded))
	j.pods.WithLabelValues("failed").Add(float64(failed))
}
