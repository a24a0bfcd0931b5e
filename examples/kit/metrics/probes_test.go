// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/podwright/podwright/nodeagent/probe"
)

func TestProbes(t *testing.T) {
	registry := prometheus.NewRegistry()
	var probes probe.ProbeMetrics = NewProbes(registry)
	probes.Probed("Succeeded", 10*time.Millisecond)
	probes.Probed("Succeeded", 20*time.Millisecond)
	probes.Probed("Failed", time.Minute)
	probes.Probed("", 0)
	families, err := registry.Gather()
	if err != nil || len(families) != 2 {
		t.Fatalf("%v (%v)", families, err)
	}
	if h := families[0].Metric[0].Histogram; h.GetSampleCount() != 4 || h.Bucket[len(h.Bucket)-1].GetCumulativeCount() != 3 {
		t.Errorf("%s: %v", families[0].GetName(), h)
	}
	got := map[string]float64{}
	for _, m := range families[1].Metric {
		got[m.Label[0].GetValue()] = m.Counter.GetValue()
	}
	if diff := cmp.Diff(map[string]float64{"Succeeded": 2, "Failed": 1, "Ended": 1}, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", families[1].GetName(), diff)
	}
}
