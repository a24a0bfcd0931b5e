// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// Jobs measures how BroadcastJobs end. It is the JobMetrics of their Options. NewJobs makes it.
type Jobs struct {
	jobs, nodes *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
}

// NewJobs registers the metrics.
func NewJobs(registry prometheus.Registerer) *Jobs {
	by := []string{"result"}
	return &Jobs{
		jobs: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_broadcastjob_jobs_finished_total", Help: "BroadcastJobs that are completed or have failed",
		}, by)),
		nodes: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_broadcastjob_pods_finished_total", Help: "Nodes of BroadcastJobs that have ended, by the result of their pods",
		}, by)),
		seconds: register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "podwright_broadcastjob_duration_seconds", Help: "Time from the start of a BroadcastJob to its end",
			Buckets: prometheus.ExponentialBuckets(1, 4, 9), // to about eighteen hours
		}, by)),
	}
}

// Finished counts a job that has ended.
func (j *Jobs) Finished(phase v1alpha1.BroadcastJobPhase, succeeded, failed int32, took time.Duration) {
	j.jobs.WithLabelValues(string(phase)).Inc()
	j.seconds.WithLabelValues(string(phase)).Observe(took.Seconds())
	j.nodes.WithLabelValues("succeeded").Add(float64(succeeded))
	j.nodes.WithLabelValues("failed").Add(float64(failed))
}
