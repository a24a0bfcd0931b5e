// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var asksForMirror = annotated(v1alpha1.PodDisruptionBudgetAnnotation, "true")

// Of the mirrors of two budgets of the same pods that are created at once one is left, and both are settled. (PUB-30)
func TestMirrorsOfTheSamePods(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		w := newWorld(c)
		defer func() { w.stop() }()
		const asks = " availability.podwright.io/pod-disruption-budget=true"
		w.play("stop", "cloneset 3", "pods a b c", "budget 1 b"+asks, "budget 1 a app=web"+asks, "option mirror=true", "wait 1h")
		all, sent := w.disruptionBudgets(), c.Count(fixture.ControllerUser)
		if len(all) != 1 || !strings.HasPrefix(all[0], "PodDisruptionBudget a:") || sent["create poddisruptionbudgets"]+sent["delete poddisruptionbudgets"] > 3 {
			t.Errorf("PUB-30: %q are left, after %v", all, sent)
		}
	})
}

// The rights to PodDisruptionBudgets are asked for only if budgets may have them. (PUB-30)
func TestRulesOfMirrors(t *testing.T) {
	for mirror, want := range map[MirrorPolicy]bool{MirrorNone: false, MirrorAnnotated: true, MirrorRemove: true} {
		got := false
		for _, rule := range Rules(Options{Mirror: mirror}) {
			got = got || rule.Resources[0] == "poddisruptionbudgets"
		}
		if got != want {
			t.Errorf("PUB-30: rules of %q for PodDisruptionBudgets: %t", mirror, got)
		}
	}
}
