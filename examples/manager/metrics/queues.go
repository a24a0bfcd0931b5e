package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
)

// Queues measures work queues. It implements workqueue.MetricsProvider.
type Queues struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, work              *prometheus.HistogramVec
}

var _ workqueue.MetricsProvider = (*Queues)(nil)

func newQueues(registry *prometheus.Registry) *Queues {
	q := &Queues{
		depth:      gauge("workqueue_depth", "Keys that wait in a work queue."),
		unfinished: gauge("workqueue_unfinished_work_seconds", "Sum of the time that the passes under way have taken so far."),
		longest:    gauge("workqueue_longest_running_processor_seconds", "Time that the longest pass under way has taken so far."),
		adds:       counter("workqueue_adds_total", "Keys added to a work queue.", "name", "controller"),
		retries:    counter("workqueue_retries_total", "Keys added again after a back-off.", "name", "controller"),
		latency:    histogram("workqueue_queue_duration_seconds", "Time that a key waits in a work queue.", "name", "controller"),
		work:       histogram("workqueue_work_duration_seconds", "Duration of the work on a key.", "name", "controller"),
	}
	registry.MustRegister(q.depth, q.unfinished, q.longest, q.adds, q.retries, q.latency, q.work)
	return q
}

func gauge(name, help string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"name", "controller"})
}

// A queue is named after its controller.

// NewDepthMetric implements workqueue.MetricsProvider.
func (q *Queues) NewDepthMetric(name string) workqueue.GaugeMetric {
	return q.depth.WithLabelValues(name, name)
}

// NewAddsMetric implements workqueue.MetricsProvider.
func (q *Queues) NewAddsMetric(name string) workqueue.CounterMetric {
	return q.adds.WithLabelValues(name, name)
}

// NewLatencyMetric implements workqueue.MetricsProvider.
func (q *Queues) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return q.latency.WithLabelValues(name, name)
}

// NewWorkDurationMetric implements workqueue.MetricsProvider.
func (q *Queues) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return q.work.WithLabelValues(name, name)
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (q *Queues) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.unfinished.WithLabelValues(name, name)
}

// NewLongestRunningProcessorSecondsMetric implements workqueue.MetricsProvider.
func (q *Queues) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return q.longest.WithLabelValues(name, name)
}

// NewRetriesMetric implements workqueue.MetricsProvider.
func (q *Queues) NewRetriesMetric(name string) workqueue.CounterMetric {
	return q.retries.WithLabelValues(name, name)
}
