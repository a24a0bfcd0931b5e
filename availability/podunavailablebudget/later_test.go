// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("release 1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{AnnotatedTotal: true, InconsistentMayGo: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("release 1.9 (-want +got):\n%s", diff)
	}
}

// A program that serves no webhook has none described, and one that does all of it. (PUB-36)
func TestDescribe(t *testing.T) {
	if a := Describe(Options{}, nil).Admission; a != nil {
		t.Errorf("without a webhook: %+v", a)
	}
	a := Describe(Options{}, &CachedWebhook{Webhook: Webhook{Updates: true}}).Admission
	if a == nil || len(a.Handlers) != 2 || len(a.Permissions) != 1 || a.Conditions[ValidatePodPath] == nil ||
		a.OnMatchChange == nil || a.Run == nil || a.Missing == nil {
		t.Errorf("with a webhook: %+v", a)
	}
}

// Beyond so many namespaces with budgets, a webhook is asked about all of them.
func TestMatchExpressionOfMany(t *testing.T) {
	var many []*v1alpha1.PodUnavailableBudget
	for i := range mostNamespaces + 1 {
		many = append(many, &v1alpha1.PodUnavailableBudget{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint("team-", i)}})
	}
	if got := MatchExpression(many); got != judged {
		t.Errorf("PUB-36: %d namespaces: asked about %.100s", len(many), got)
	}
}

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
