// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func TestTerminations(t *testing.T) {
	registry := prometheus.NewRegistry()
	terminations := NewTerminations(registry)
	terminations.Ended(3 * time.Second)
	terminations.Ended(time.Hour)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "podwright_sidecarterminator_main_exit_to_complete_seconds" {
		t.Fatalf("%v (%v)", families, err)
	}
	if h := families[0].Metric[0].Histogram; h.GetSampleCount() != 2 || h.GetSampleSum() != 3603 || h.Bucket[3].GetCumulativeCount() != 1 || h.Bucket[2].GetCumulativeCount() != 0 {
		t.Errorf("histogram %v", h)
	}
}
