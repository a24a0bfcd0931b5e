// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func TestEphemeralJobs(t *testing.T) {
	registry := prometheus.NewRegistry()
	j := NewEphemeralJobs(registry)
	j.Injected(3, 0)
	j.Injected(1, 2)
	j.Finished(v1alpha1.EphemeralJobSucceeded, 3, 0, time.Minute)
	j.Finished(v1alpha1.EphemeralJobFailed, 1, 1, time.Second)
	const want = `
# HELP podwright_ephemeraljob_injections_total Pods into which EphemeralJobs have tried to inject, by whether the API server has let them: served or refused
# TYPE podwright_ephemeraljob_injections_total counter
podwright_ephemeraljob_injections_total{result="refused"} 2
podwright_ephemeraljob_injections_total{result="served"} 4
# HELP podwright_ephemeraljob_jobs_finished_total EphemeralJobs that have succeeded or failed
# TYPE podwright_ephemeraljob_jobs_finished_total counter
podwright_ephemeraljob_jobs_finished_total{result="Failed"} 1
podwright_ephemeraljob_jobs_finished_total{result="Succeeded"} 1
# HELP podwright_ephemeraljob_pods_finished_total Pods of EphemeralJobs that have finished, by the result of their containers
# TYPE podwright_ephemeraljob_pods_finished_total counter
podwright_ephemeraljob_pods_finished_total{result="failed"} 1
podwright_ephemeraljob_pods_finished_total{result="succeeded"} 4
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "podwright_ephemeraljob_injections_total",
		"podwright_ephemeraljob_jobs_finished_total", "podwright_ephemeraljob_pods_finished_total"); err != nil {
		t.Error(err)
	}
	if count, err := testutil.GatherAndCount(registry, "podwright_ephemeraljob_duration_seconds"); err != nil || count != 2 {
		t.Errorf("%d series of durations (%v)", count, err)
	}
}
