// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestDistributions(t *testing.T) {
	registry := prometheus.NewRegistry()
	d := NewDistributions(registry)
	d.Counted("gone", 7, 7)
	d.Counted("pull", 9, 0)
	d.Counted("pull", 8, 1)
	NewDistributions(registry).Gone("gone")
	const want = `
# HELP podwright_resourcedistribution_targets Namespaces that a ResourceDistribution selects, by whether they have their copy
# TYPE podwright_resourcedistribution_targets gauge
podwright_resourcedistribution_targets{resourcedistribution="pull",result="failed"} 1
podwright_resourcedistribution_targets{resourcedistribution="pull",result="succeeded"} 8
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
