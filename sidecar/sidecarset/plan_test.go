// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// What is nil is left out, and what a plan cannot do without is a problem. (SCS-24)
func TestPlanOfNil(t *testing.T) {
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	w.image("log", "log:v2")
	pods, revisions := w.snapshot(), w.snapshot()
	pods.Pods, revisions.Revisions = append(w.Pods, nil), append(w.Revisions, nil)
	for name, s := range map[string]*Snapshot{"pod": pods, "revision": revisions} {
		plan := NewPlan(s)
		if !strings.Contains(plan.String(), "problem FailedUpdatePod: Snapshot.Pods or Snapshot.Revisions: nil left out\n") || len(updates(plan)) != 1 ||
			len(plan.Problems) != 1 || conditionOf(plan.Status, failedUpdate) == nil {
			t.Errorf("a nil %s: %s", name, plan)
		}
	}
	for name, s := range map[string]*Snapshot{"snapshot": nil, "SidecarSet": {Now: noon}, "time": {Set: w.sees.Set}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 || plan.Status != nil || len(plan.Patch) > 0 {
			t.Errorf("no %s: %s", name, plan)
		}
	}
	if plan := NewPlan(&Snapshot{Set: &v1alpha1.SidecarSet{}, Pods: []*corev1.Pod{{}}, Now: noon}); len(plan.Problems) != 1 {
		t.Errorf("an empty SidecarSet: %s", plan)
	}
	if got := (Plan{}).String(); got != "no revision" {
		t.Errorf("an empty plan: %s", got)
	}
}

// A release switches what it does by default. (SCS-30, SCS-32, SCS-33)
func TestFeaturesOf(t *testing.T) {
	if got := FeaturesOf(podwright.Release14); got != (Features{}) {
		t.Errorf("1.4: %+v", got)
	}
	want := Features{PartitionRoundsUp: true, ReplacePatch: true, UpgradableCondition: true}
	if got := FeaturesOf(podwright.Release19); got != want {
		t.Errorf("1.9: %+v, want %+v", got, want)
	}
}

// The feature takes the right to patch the status of pods. (SCS-33)
func TestRulesOfUpgradableCondition(t *testing.T) {
	for _, on := range []bool{false, true} {
		may := false
		for _, rule := range Rules(Options{Features: Features{UpgradableCondition: on}}) {
			may = may || len(rule.Resources) == 1 && rule.Resources[0] == "pods/status" && rule.Verbs[0] == "patch"
		}
		if may != on {
			t.Errorf("on %t: may patch pods/status %t", on, may)
		}
	}
}
