// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright/examples/kit/metrics/listed"
)

// Dashboards and alerts are held to this list.
func TestMetrics(t *testing.T) {
	listed.Compare(t, ctrlmetrics.Registry.(prometheus.Collector), "../../monitoring/testdata/manager.txt")
}
