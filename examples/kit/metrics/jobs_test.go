// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

func TestJobs(t *testing.T) {
	registry := prometheus.NewRegistry()
	j := NewJobs(registry)
	j.Finished(v1alpha1.PhaseCompleted, 950, 50, time.Minute)
	j.Finished(v1alpha1.PhaseFailed, 0, 2, time.Second)
	const want = `
# HELP podwright_broadcastjob_jobs_finished_total BroadcastJobs that are completed or have failed
# TYPE podwright_broadcastjob_jobs_finished_total counter
podwright_broadcastjob_jobs_finished_total{result="completed"} 1
podwright_broadcastjob_jobs_finished_total{result="failed"} 1
# HELP podwright_broadcastjob_pods_finished_total Nodes of BroadcastJobs that have ended, by the result of their pods
# TYPE podwright_broadcastjob_pods_finished_total counter
podwright_broadcastjob_pods_finished_total{result="failed"} 52
podwright_broadcastjob_pods_finished_total{result="succeeded"} 950
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "podwright_broadcastjob_jobs_finished_total", "podwright_broadcastjob_pods_finished_total"); err != nil {
		t.Error(err)
	}
	if count, err := testutil.GatherAndCount(registry, "podwright_broadcastjob_duration_seconds"); err != nil || count != 2 {
		t.Errorf("%d series of durations (%v)", count, err)
	}
}
