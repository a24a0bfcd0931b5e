// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// DaemonSets measures how far DaemonSets have come. It is the SetMetrics of their Options. NewDaemonSets makes it.
type DaemonSets struct {
	desired, current, ready, updated, misscheduled *prometheus.GaugeVec
}

// NewDaemonSets registers the metrics.
func NewDaemonSets(registry prometheus.Registerer) *DaemonSets {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return register(registry, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"namespace", "daemonset"}))
	}
	return &DaemonSets{
		desired:      gauge("podwright_daemonset_desired_nodes", "Nodes that should run a pod of a DaemonSet"),
		current:      gauge("podwright_daemonset_current_nodes", "Nodes that should run a pod of a DaemonSet and have one"),
		ready:        gauge("podwright_daemonset_ready_nodes", "Nodes that should run a pod of a DaemonSet and have a ready one"),
		updated:      gauge("podwright_daemonset_updated_nodes", "Nodes that should run a pod of a DaemonSet and have one of the present template"),
		misscheduled: gauge("podwright_daemonset_misscheduled_nodes", "Nodes that have a pod of a DaemonSet and should not"),
	}
}

// Counted shows the numbers of a DaemonSet.
func (d *DaemonSets) Counted(set types.NamespacedName, status *v1alpha1.DaemonSetStatus) {
	d.desired.WithLabelValues(set.Namespace, set.Name).Set(float64(status.DesiredNumberScheduled))
	d.current.WithLabelValues(set.Namespace, set.Name).Set(float64(status.CurrentNumberScheduled))
	d.ready.WithLabelValues(set.Namespace, set.Name).Set(float64(status.NumberReady))
	d.updated.WithLabelValues(set.Namespace, set.Name).Set(float64(status.UpdatedNumberScheduled))
	d.misscheduled.WithLabelValues(set.Namespace, set.Name).Set(float64(status.NumberMisscheduled))
}

// Gone drops the numbers of a DaemonSet.
func (d *DaemonSets) Gone(set types.NamespacedName) {
	for _, gauge := range []*prometheus.GaugeVec{d.desired, d.current, d.ready, d.updated, d.misscheduled} {
		gauge.DeleteLabelValues(set.Namespace, set.Name)
	}
}
