// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

func TestReconciles(t *testing.T) {
	_ = controller.Options{} // registers controller-runtime's own
	for name, registry := range map[string]interface {
		prometheus.Registerer
		prometheus.Gatherer
	}{"alone": prometheus.NewRegistry(), "beside controller-runtime": ctrlmetrics.Registry} {
		r := New(registry)
		New(registry).Started("cloneset-controller")
		r.Reconciled("cloneset-controller", 3*time.Millisecond, nil)
		r.Reconciled("cloneset-controller", 3*time.Millisecond, errors.New("broken"))
		r.Waited("cloneset-controller")
		const want = `
# HELP controller_runtime_reconcile_errors_total Total number of reconciliation errors per controller
# TYPE controller_runtime_reconcile_errors_total counter
controller_runtime_reconcile_errors_total{controller="cloneset-controller"} 1
# HELP controller_runtime_reconcile_total Total number of reconciliations per controller
# TYPE controller_runtime_reconcile_total counter
controller_runtime_reconcile_total{controller="cloneset-controller",result="error"} 1
controller_runtime_reconcile_total{controller="cloneset-controller",result="success"} 1
# HELP podwright_stale_sync_skips_total Reconciles put off per controller, until its caches show its last writes
# TYPE podwright_stale_sync_skips_total counter
podwright_stale_sync_skips_total{controller="cloneset-controller"} 1
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "controller_runtime_reconcile_total", "controller_runtime_reconcile_errors_total", "podwright_stale_sync_skips_total"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if count, err := testutil.GatherAndCount(registry, "controller_runtime_reconcile_time_seconds"); err != nil || count != 1 {
			t.Errorf("%s: %d series of durations (%v)", name, count, err)
		}
	}
}
