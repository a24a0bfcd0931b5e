// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/uniteddeployment"
)

func TestSubsets(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := NewSubsets(registry)
	web, gone := types.NamespacedName{Namespace: "shop", Name: "web"}, types.NamespacedName{Namespace: "shop", Name: "gone"}
	s.Subsets(gone, []uniteddeployment.SubsetState{{Name: "a", Wanted: 1}})
	s.Subsets(web, []uniteddeployment.SubsetState{{Name: "a", Wanted: 1}, {Name: "removed", Wanted: 1}})
	NewSubsets(registry).Subsets(web, []uniteddeployment.SubsetState{{Name: "a", Wanted: 3, Replicas: 2, Ready: 1}})
	s.Subsets(gone, nil)
	const want = `
# HELP podwright_uniteddeployment_subset_replicas Pods that a subset of a UnitedDeployment has
# TYPE podwright_uniteddeployment_subset_replicas gauge
podwright_uniteddeployment_subset_replicas{name="web",namespace="shop",subset="a"} 2
# HELP podwright_uniteddeployment_subset_replicas_desired Pods that a subset of a UnitedDeployment is to have
# TYPE podwright_uniteddeployment_subset_replicas_desired gauge
podwright_uniteddeployment_subset_replicas_desired{name="web",namespace="shop",subset="a"} 3
# HELP podwright_uniteddeployment_subset_replicas_ready Ready pods of a subset of a UnitedDeployment
# TYPE podwright_uniteddeployment_subset_replicas_ready gauge
podwright_uniteddeployment_subset_replicas_ready{name="web",namespace="shop",subset="a"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Errorf("UD-17: %v", err)
	}
}
