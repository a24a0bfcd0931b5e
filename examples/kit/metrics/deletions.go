// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Deletions counts the deletions that are refused since a label protects the object. It is the RefusalMetrics of package deletion. NewDeletions
// makes it.
type Deletions struct{ refused *prometheus.CounterVec }

// NewDeletions registers the metrics.
func NewDeletions(registry prometheus.Registerer) *Deletions {
	return &Deletions{register(registry, prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "podwright_protected_deletions_refused_total", Help: "Deletions that a webhook refused since the label policy.kruise.io/delete-protection protects the object",
	}, []string{"kind", "namespace"}))}
}

// Refused counts a refusal.
func (d *Deletions) Refused(kind schema.GroupKind, namespace string) {
	d.refused.WithLabelValues(kind.String(), namespace).Inc()
}
