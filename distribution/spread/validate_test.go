// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// everything is above any workload.
func everything(*v1alpha1.WorkloadSpread) []Named {
	return []Named{{GroupKind: Deployments, Name: "web"}, {}}
}

func TestTargets(t *testing.T) {
	ws := spreadOf(t, "subsets: [{name: a}]")
	if !Targets(ws, Deployments, "web") || Targets(ws, Deployments, "db") || Targets(ws, ReplicaSets, "web") {
		t.Error("WS-1: the target is wrong")
	}
	for _, ref := range []*v1alpha1.TargetReference{nil, {}, {APIVersion: "a/b/c", Kind: "Deployment", Name: "web"}, {APIVersion: "apps/v1", Kind: "Deployment"}, {APIVersion: "apps/v1", Name: "web"}} {
		ws := &v1alpha1.WorkloadSpread{Spec: v1alpha1.WorkloadSpreadSpec{TargetReference: ref}}
		if _, known := KindOf(ws); known || Conflict(ws, ws, everything) || Targets(ws, Deployments, "web") {
			t.Errorf("WS-1: %v is known", ref)
		}
	}
	for _, test := range []struct {
		w    *Workload
		want int32
	}{{nil, 0}, {&Workload{}, 1}, {deployment(3), 3}, {deployment(-1), 0}, {&Workload{Deleting: true}, 0}} {
		if got := test.w.Wants(); got != test.want {
			t.Errorf("WS-1: %v wants %d, want %d", test.w, got, test.want)
		}
	}
}
