// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// WS-35: a kind of the list may be named, whatever its version, also a StatefulSet of another group, and percentages of it.
func TestWhitelistAllows(t *testing.T) {
	list := Whitelist{{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "StatefulSet"}}}
	ws := spreadOf(t, "targetRef: {apiVersion: example.com/v2, kind: StatefulSet, name: db}\nsubsets: [{name: a, maxReplicas: 30%}, {name: b}]")
	if errs := list.ValidateCreate(ws); len(errs) > 0 {
		t.Errorf("WS-35: refused: %v", errs)
	}
	if errs := list.ValidateUpdate(ws, ws); len(errs) > 0 {
		t.Errorf("WS-35: refused: %v", errs)
	}
	if errs := ValidateCreate(ws); len(errs) != 1 || errs[0].Field != "spec.targetRef" {
		t.Errorf("WS-35: without a list: %v", errs)
	}
	if !Targets(ws, schema.GroupKind{Group: "example.com", Kind: "StatefulSet"}, "db") || Targets(ws, AdvancedStatefulSets, "db") || !Conflict(ws, ws, nil) {
		t.Error("WS-22: the target of another kind is wrong")
	}
	kind := schema.GroupKind{Group: "example.com", Kind: "StatefulSet"}
	workload := &Workload{GroupKind: kind, Name: "db", Replicas: new(int32(10))}
	pod := unnamed()
	pod.Name = "db-7"
	if got := assign(Input{Pod: pod, Spread: ws, Workload: workload, Now: now}); got.Subset != "a" {
		t.Errorf("WS-35: it is spread by count, and goes to %q", got.Subset)
	}
	computed := Compute(State{Spread: ws, Workload: workload, Pods: append(some(5, "a"), newPod("late", "a", "pending=5s")), Now: now})
	if len(computed.Costs)+len(computed.Deletions) > 0 {
		t.Errorf("WS-35: costs %v, deletions %v of a kind that may not replace pods", computed.Costs, computed.Deletions)
	}
}
