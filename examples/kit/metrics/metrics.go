// SPDX-License-Identifier: Apache-2.0

// Package metrics measures controllers for Prometheus under the names of controller-runtime, so that dashboards and
// alerts of OpenKruise keep working.
package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reconciles counts and times what controllers do. It is the Metrics of their Options. New makes it.
type Reconciles struct {
	total, failed, waited *prometheus.CounterVec
	seconds               *prometheus.HistogramVec
}

// New registers the metrics. If controller-runtime has registered its own, which have the same names, labels and
// descriptions, both count there.
func New(registry prometheus.Registerer) *Reconciles {
	by := []string{"controller"}
	return &Reconciles{
		total: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_total", Help: "Total number of reconciliations per controller",
		}, append(by, "result"))),
		failed: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "controller_runtime_reconcile_errors_total", Help: "Total number of reconciliation errors per controller",
		}, by)),
		waited: register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "podwright_stale_sync_skips_total", Help: "Reconciles put off per controller, until its caches show its last writes",
		}, by)),
		seconds: register(registry, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "controller_runtime_reconcile_time_seconds", Help: "Length of time per reconciliation per controller",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 15), // to about half a minute
		}, by)),
	}
}

// register returns what stands in the registry.
func register[C prometheus.Collector](registry prometheus.Registerer, collector C) C {
	var stands prometheus.AlreadyRegisteredError
	switch err := registry.Register(collector); {
	case err == nil:
		return collector
	case errors.As(err, &stands):
		return stands.ExistingCollector.(C)
	default:
		panic(err) // two metrics of one name
	}
}

// Reconciled counts a reconcile.
func (r *Reconciles) Reconciled(controller string, took time.Duration, err error) {
	result := "success"
	if err != nil {
		result = "error"
		r.failed.WithLabelValues(controller).Inc()
	}
	r.total.WithLabelValues(controller, result).Inc()
	r.seconds.WithLabelValues(controller).Observe(took.Seconds())
}

// Waited counts a reconcile that was put off.
func (r *Reconciles) Waited(controller string) { r.waited.WithLabelValues(controller).Inc() }

// Started makes the series of a controller visible before its first reconcile.
func (r *Reconciles) Started(controller string) {
	r.failed.WithLabelValues(controller)
	r.waited.WithLabelValues(controller)
	r.total.WithLabelValues(controller, "success")
	r.total.WithLabelValues(controller, "error")
}
