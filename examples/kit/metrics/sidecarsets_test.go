// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

func TestSidecarSets(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := NewSidecarSets(registry)
	s.Counted("gone", &v1alpha1.SidecarSetStatus{MatchedPods: 7}, 7)
	s.Counted("log", &v1alpha1.SidecarSetStatus{MatchedPods: 9}, 0)
	s.Counted("log", &v1alpha1.SidecarSetStatus{MatchedPods: 4, ReadyPods: 3, UpdatedPods: 2}, 1)
	NewSidecarSets(registry).Gone("gone")
	i := NewInjections(registry)
	i.Injected([]string{"log", "mesh"}, time.Millisecond, nil)
	i.Injected([]string{"log"}, time.Millisecond, nil)
	NewInjections(registry).Injected([]string{"mesh"}, time.Second, errors.New("refused"))
	const want = `
# HELP podwright_sidecarset_injected_total New pods that a SidecarSet matched and that were let through
# TYPE podwright_sidecarset_injected_total counter
podwright_sidecarset_injected_total{sidecarset="log"} 2
podwright_sidecarset_injected_total{sidecarset="mesh"} 1
# HELP podwright_sidecarset_matched_pods Pods that a SidecarSet has injected into
# TYPE podwright_sidecarset_matched_pods gauge
podwright_sidecarset_matched_pods{sidecarset="log"} 4
# HELP podwright_sidecarset_missed_pods Pods that a SidecarSet selects and that were created without its containers
# TYPE podwright_sidecarset_missed_pods gauge
podwright_sidecarset_missed_pods{sidecarset="log"} 1
# HELP podwright_sidecarset_ready_pods Pods of a SidecarSet that are ready and run the images of their spec
# TYPE podwright_sidecarset_ready_pods gauge
podwright_sidecarset_ready_pods{sidecarset="log"} 3
# HELP podwright_sidecarset_refused_pods_total New pods that were refused, since sidecars could not be injected
# TYPE podwright_sidecarset_refused_pods_total counter
podwright_sidecarset_refused_pods_total 1
# HELP podwright_sidecarset_updated_pods Pods that have the present containers of a SidecarSet
# TYPE podwright_sidecarset_updated_pods gauge
podwright_sidecarset_updated_pods{sidecarset="log"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "podwright_sidecarset_injected_total", "podwright_sidecarset_matched_pods", "podwright_sidecarset_missed_pods",
		"podwright_sidecarset_ready_pods", "podwright_sidecarset_refused_pods_total", "podwright_sidecarset_updated_pods"); err != nil {
		t.Errorf("SCS-21, SCS-23: %v", err)
	}
	if n := testutil.CollectAndCount(i.took); n != 1 {
		t.Errorf("%d histograms of how long it took", n)
	}
}
