// Package metrics measures a manager or a node agent for Prometheus, under the names that
// controller-runtime has made common, so that the dashboards and alerts of
// OpenKruise keep working. It registers nothing process-wide.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is all that one process measures. New and NewManager make it.
type Metrics struct {
	// Queues measures work queues (workqueue.MetricsProvider).
	Queues *Queues
	// Leader is 1 while this process runs the controllers. Only a manager has it.
	Leader prometheus.Gauge

	registry   *prometheus.Registry
	reconciled *prometheus.CounterVec
	failed     *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	requests   *prometheus.CounterVec
	latency    *prometheus.HistogramVec
	admissions *prometheus.CounterVec
	admission  *prometheus.HistogramVec
}

// New returns metrics with a registry of their own, which also holds those of the
// Go runtime and of the process.
func New() *Metrics {
	registry := prometheus.NewRegistry()
	m := &Metrics{
		registry:   registry,
		reconciled: counter("controller_runtime_reconcile_total", "Passes over an object, by controller and result.", "controller", "result"),
		failed:     counter("controller_runtime_reconcile_errors_total", "Passes that ended with an error, by controller.", "controller"),
		seconds:    histogram("controller_runtime_reconcile_time_seconds", "Duration of a pass, by controller.", "controller"),
		requests:   counter("rest_client_requests_total", "Requests to the API server, by code, method and host.", "code", "method", "host"),
		latency:    histogram("rest_client_request_duration_seconds", "Time until the API server answers, by verb and host.", "verb", "host"),
		admissions: counter("controller_runtime_webhook_requests_total", "Calls of a webhook, by path and code.", "webhook", "code"),
		admission:  histogram("controller_runtime_webhook_latency_seconds", "Duration of a webhook call, by path.", "webhook"),
	}
	m.Queues = newQueues(registry)
	registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.reconciled, m.failed, m.seconds, m.requests, m.latency, m.admissions, m.admission,
	)
	return m
}

// NewManager returns the metrics of a manager, which tell whether it leads.
func NewManager() *Metrics {
	m := New()
	m.Leader = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kruise_manager_is_leader", Help: "Whether this process runs the controllers: 1 or 0.",
	})
	m.registry.MustRegister(m.Leader)
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

// Reconciled counts a pass of a controller.
func (m *Metrics) Reconciled(controller string, took time.Duration, err error) {
	result := "success"
	if err != nil {
		result = "error"
		m.failed.WithLabelValues(controller).Inc()
	}
	m.reconciled.WithLabelValues(controller, result).Inc()
	m.seconds.WithLabelValues(controller).Observe(took.Seconds())
}

// Started makes the series of a controller visible before its first pass.
func (m *Metrics) Started(controller string) {
	m.failed.WithLabelValues(controller)
	for _, result := range []string{"success", "error"} {
		m.reconciled.WithLabelValues(controller, result)
	}
}

// Transport measures the requests of a client (rest.Config.Wrap). A watch is
// measured until it begins.
func (m *Metrics) Transport(next http.RoundTripper) http.RoundTripper {
	return &measured{m, next}
}

type measured struct {
	metrics *Metrics
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *measured) RoundTrip(request *http.Request) (*http.Response, error) {
	start := time.Now()
	response, err := t.next.RoundTrip(request)
	code := "<error>"
	if err == nil {
		code = strconv.Itoa(response.StatusCode)
	}
	t.metrics.requests.WithLabelValues(code, request.Method, request.URL.Host).Inc()
	t.metrics.latency.WithLabelValues(request.Method, request.URL.Host).Observe(time.Since(start).Seconds())
	return response, err
}

// WrappedRoundTripper lets client-go find what cancels requests.
func (t *measured) WrappedRoundTripper() http.RoundTripper { return t.next }

// Webhook measures the calls of a webhook.
func (m *Metrics) Webhook(path string, next http.Handler) http.Handler {
	labels := prometheus.Labels{"webhook": path}
	return promhttp.InstrumentHandlerDuration(m.admission.MustCurryWith(labels),
		promhttp.InstrumentHandlerCounter(m.admissions.MustCurryWith(labels), next))
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// histogram measures from a millisecond to about half a minute.
func histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
	}, labels)
}
