// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
)

var _ deletion.RefusalMetrics = (*Deletions)(nil)

func TestDeletions(t *testing.T) {
	registry := prometheus.NewRegistry()
	for range 2 {
		NewDeletions(registry).Refused(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "shop")
	}
	NewDeletions(registry).Refused(schema.GroupKind{Kind: "Namespace"}, "")
	const want = `
# HELP podwright_protected_deletions_refused_total Deletions that a webhook refused since the label policy.kruise.io/delete-protection protects the object
# TYPE podwright_protected_deletions_refused_total counter
podwright_protected_deletions_refused_total{kind="Deployment.apps",namespace="shop"} 2
podwright_protected_deletions_refused_total{kind="Namespace",namespace=""} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
