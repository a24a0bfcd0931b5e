// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/lifecycle/podwebhook"
)

var _ podwebhook.Step = (*Placer)(nil)

// WS-26: the API server asks about the pods that WorkloadSpreads are about, and not if workloads place their pods themselves.
func TestPlacerMatchExpression(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		unfilled, err := NewPlacer(c.options)
		c.Must(err)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := unfilled.MatchExpression(over); err == nil || !strings.Contains(err.Error(), "not filled yet") {
			t.Errorf("WS-26: before it runs: error %v", err)
		}
		c.options.PlacedByWorkloads = true
		p := c.placer()
		changes := 0
		c.Must(p.OnMatchChange(func() { changes++ }))
		spreads := c.spreads.WorkloadSpreads("default")
		expect := func(step, kinds string, changed int) {
			t.Helper()
			c.Sleep("1s")
			got, err := p.MatchExpression(t.Context())
			c.Must(err)
			if kinds == "false" && got != kinds || kinds != "false" && !strings.HasSuffix(got, " in ["+kinds+"])") || changes != changed {
				t.Errorf("WS-26: %s: %d changes, want %d, asked about %s, want %s", step, changes, changed, got, kinds)
			}
			changes = 0
		}
		expect("no WorkloadSpread", "false", 0)
		c.createSpread("web", "subsets: [{name: a}]")
		expect("one of a Deployment", "'default/ReplicaSet'", 1)
		change := func(edit func(*v1alpha1.WorkloadSpread)) {
			t.Helper()
			ws := c.spread("web")
			edit(ws)
			_, err := spreads.Update(t.Context(), ws, metav1.UpdateOptions{})
			c.Must(err)
		}
		change(func(ws *v1alpha1.WorkloadSpread) { ws.Spec.Subsets[0].Name = "b" })
		expect("another subset", "'default/ReplicaSet'", 0)
		change(func(ws *v1alpha1.WorkloadSpread) {
			ws.Spec.TargetReference.APIVersion, ws.Spec.TargetReference.Kind = "batch/v1", "Job"
		})
		expect("now of a Job", "'default/Job'", 1)
		change(func(ws *v1alpha1.WorkloadSpread) { ws.Spec.TargetReference.Kind = "Other" })
		expect("now of a kind that is not spread", "false", 1)
		change(func(ws *v1alpha1.WorkloadSpread) {
			ws.Spec.TargetReference.APIVersion, ws.Spec.TargetReference.Kind = "apps.kruise.io/v1alpha1", "CloneSet"
		})
		expect("now of a CloneSet, which places its pods itself", "false", 1)
		c.Must(spreads.Delete(t.Context(), "web", metav1.DeleteOptions{}))
		expect("it is gone", "false", 1)
	})
}

// WS-26: a pod that its workload places is left unchanged, if that is said.
func TestPlacedByWorkloads(t *testing.T) {
	for _, said := range []bool{false, true} {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.options.PlacedByWorkloads = said
			uid := c.object("apps.kruise.io/v1alpha1/clonesets", `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"CloneSet","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":2}}`)
			c.createSpread("web", "subsets: [{name: a}]")
			ws := c.spread("web")
			ws.Spec.TargetReference.APIVersion, ws.Spec.TargetReference.Kind = "apps.kruise.io/v1alpha1", "CloneSet"
			_, err := c.spreads.WorkloadSpreads("default").Update(t.Context(), ws, metav1.UpdateOptions{})
			c.Must(err)
			p := c.placer()
			pod := func() *corev1.Pod {
				return generated(metav1.OwnerReference{APIVersion: "apps.kruise.io/v1alpha1", Kind: "CloneSet", Name: "web", UID: uid, Controller: new(true)})
			}
			if got := c.admit(p, pod()); (got == "") != said {
				t.Errorf("WS-26: placed by workloads %t: the webhook sends it to %q", said, got)
			}
			created := pod()
			created.Namespace = "default"
			if placed, err := p.PlacePod(t.Context(), created); err != nil || placed == created {
				t.Errorf("WS-25: placed by workloads %t: its workload does not place it: error %v", said, err)
			}
		})
	}
}
