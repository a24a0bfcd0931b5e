// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright"
)

// A release switches what it does by default. (SCS-30, SCS-32, SCS-33)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	want := Features{PartitionRoundsUp: true, ReplacePatch: true, UpgradableCondition: true}
	if diff := cmp.Diff(want, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// A revision says that it replaces, or does not; one of the other form that holds the spec is used. (SCS-32)
func TestReplacePatch(t *testing.T) {
	for _, on := range []bool{false, true} {
		w := newWorld(t, logs)
		first := NewPlan(featured(w, on)).Revisions.Create
		if is := bytes.HasPrefix(first.Data.Raw, []byte(`{"spec":{"$patch":"replace","containers":[{`)); is != on {
			t.Fatalf("on %t: %s", on, first.Data.Raw)
		}
		if other := NewPlan(featured(w, !on)).Revisions.Create; other.Name == first.Name {
			t.Errorf("both forms have the name %s", first.Name)
		}
		w.revisions = append(w.revisions, first)
		if plan := NewPlan(featured(w, !on)); plan.Revisions.Create != nil || plan.Revisions.Raise != nil || plan.Revisions.Update.Name != first.Name {
			t.Errorf("on %t, a reader of the other form: %s", on, plan)
		}
		w.image("log", "log:v2")
		second := NewPlan(featured(w, !on)).Revisions.Create
		w.revisions = append(w.revisions, second)
		w.image("log", "log:v1")
		if plan := NewPlan(featured(w, !on)); plan.Revisions.Create != nil || fmt.Sprint(plan.Revisions.Update.Name) != first.Name {
			t.Errorf("on %t, back to the one of the other form: %s", on, plan)
		}
	}
}

// featured is a snapshot of a manager that says, or does not, that revisions replace.
func featured(w *world, replace bool) *Snapshot {
	s := w.snapshot()
	s.Features.ReplacePatch = replace
	return s
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
