// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

type spoil = simulation.Spoil[Options, Reconciler]

// TestSimulationFindsBugs plants bugs into the terminator: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	forget := func(field string) spoil {
		return spoil{Config: func(c *rest.Config) {
			c.Wrap(simulation.SpoilBodies(http.MethodPatch, string(resourcePods), simulation.Forget("metadata", field)))
		}}
	}
	seen := func(change func(*corev1.Pod)) spoil {
		return spoil{Options: func(o *Options) { o.Reader = readers.ChangingPods(o.Reader, change) }}
	}
	planned := func(change func(*Snapshot, *Plan)) spoil {
		return spoil{Reconciler: func(r Reconciler) { controller.KindOf(r).Plan = simulation.Spoiled(NewPlan, change) }}
	}
	policy := func(before, after corev1.RestartPolicy) spoil {
		return seen(func(pod *corev1.Pod) {
			if pod.Spec.RestartPolicy == before {
				pod.Spec.RestartPolicy = after
			}
		})
	}
	var bugs []simulation.Bug
	for _, b := range []struct {
		name   string
		breaks invariants.Invariant
		seed   uint64
		bug    spoil
	}{
		{"a main container that starts again has ended", invariants.Availability, 59, policy(corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)},
		{"pods that restart always are helped", invariants.Needless, 0, policy(corev1.RestartPolicyAlways, corev1.RestartPolicyNever)},
		{"any pod of the name is changed", invariants.Ownership, 0, forget("uid")},
		{"the phase is written whatever has become of the pod", invariants.Ownership, 0, forget("resourceVersion")},
		{"a request does not wait for the kubelet", invariants.Order, 1, seen(learn)},
		{"all pods succeed", invariants.Status, 7, planned(func(_ *Snapshot, p *Plan) {
			if p.Phase != "" {
				p.Phase = corev1.PodSucceeded
			}
		})},
		{"agents that are silent are waited for", invariants.Settled, 3, planned(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 })},
		{"the phase is left to kubelets", invariants.Settled, 8, spoil{Options: func(o *Options) { o.Features.LeavePhase = true }}},
	} {
		bugs = append(bugs, simulation.Bug{Name: b.name, Breaks: b.breaks, First: b.seed, Workload: simulated(&b.bug)})
	}
	simulation.FindBugs(t, bugs)
}
