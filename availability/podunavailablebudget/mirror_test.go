// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"strings"
	"sync/atomic"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var asksForMirror = annotated(v1alpha1.PodDisruptionBudgetAnnotation, "true")

func mirroring(o *Options) { o.Mirror = MirrorAnnotated }

// disruptionBudget returns the PodDisruptionBudget of that name; nil for none.
func (c *cluster) disruptionBudget(name string) *policyv1.PodDisruptionBudget {
	c.T.Helper()
	d, err := c.Kube.PolicyV1().PodDisruptionBudgets("default").Get(c.T.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	c.Must(err)
	return d
}

// Of the mirrors of two budgets of the same pods that are created at once one is left, and both are settled.
func TestMirrorsOfTheSamePods(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.cloneSet(3)
		c.webPods("a", "b", "c")
		c.createBudget(newBudget("b", "1", asksForMirror))
		c.createBudget(newBudget("a", "1", bySelector, asksForMirror))
		var writes atomic.Int32
		c.FailAfter(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" && strings.Contains(r.String(), "poddisruptionbudgets") {
				writes.Add(1)
			}
			return nil
		})
		_, stop := c.start(mirroring)
		defer stop()
		c.Sleep("1m")
		if a, b := c.disruptionBudget("a"), c.disruptionBudget("b"); a == nil || b != nil {
			t.Errorf("PUB-30: %v and %v are left", a, b)
		}
		c.Sleep("1h")
		if n := writes.Load(); n > 3 {
			t.Errorf("PUB-30: %d writes", n)
		}
	})
}

// By default no budget asks for PodDisruptionBudgets, and the rights to are not needed.
func TestNoMirrors(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && strings.Contains(r.String(), "poddisruptionbudgets") {
				t.Errorf("PUB-30: %s", r.String())
			}
			return nil
		})
		_, stop := c.start()
		defer stop()
		c.cloneSet(3)
		c.webPods("a", "b", "c")
		c.createBudget(newBudget("web", "1", asksForMirror))
		if c.Sleep("1s"); c.disruptionBudget("web") != nil {
			t.Error("PUB-30: there is one")
		}
	})
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
