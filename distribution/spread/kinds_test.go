// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
	computed := Compute(State{Spread: ws, Workload: workload, Pods: append(some(5, "a"), newPod("late", "a", pending(5*1e9))), Now: now})
	if len(computed.Costs)+len(computed.Deletions) > 0 {
		t.Errorf("WS-35: costs %v, deletions %v of a kind that may not replace pods", computed.Costs, computed.Deletions)
	}
}
