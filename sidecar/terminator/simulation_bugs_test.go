// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
)

type spoil = simulation.Spoil[Options, Reconciler]

// TestSimulationFindsBugs plants bugs into the terminator: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	forget := func(field string) spoil {
		return simulation.OnWire[Options, Reconciler](simulation.Forgetting(http.MethodPatch, string(resourcePods), "metadata", field))
	}
	seen := func(change func(*corev1.Pod)) spoil {
		return spoil{Options: func(o *Options) { o.Reader = readers.ChangingPods(o.Reader, change) }}
	}
	planned := planted.InPlan[Options, Snapshot, Plan]
	policy := func(before, after corev1.RestartPolicy) spoil {
		return seen(func(pod *corev1.Pod) {
			if pod.Spec.RestartPolicy == before {
				pod.Spec.RestartPolicy = after
			}
		})
	}
	plant := simulation.Plant(t, simulated)
	plant("a main container that starts again has ended", invariants.Availability, 59, policy(corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever))
	plant("pods that restart always are helped", invariants.Needless, 0, policy(corev1.RestartPolicyAlways, corev1.RestartPolicyNever))
	plant("any pod of the name is changed", invariants.Ownership, 0, forget("uid"))
	plant("the phase is written whatever has become of the pod", invariants.Ownership, 0, forget("resourceVersion"))
	plant("a request does not wait for the kubelet", invariants.Order, 1, seen(learn))
	plant("all pods succeed", invariants.Status, 7, planned(func(_ *Snapshot, p *Plan) {
		if p.Phase != "" {
			p.Phase = corev1.PodSucceeded
		}
	}))
	plant("agents that are silent are waited for", invariants.Settled, 3, planned(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 }))
	plant("the phase is left to kubelets", invariants.Settled, 8, spoil{Options: func(o *Options) { o.Features.LeavePhase = true }})
}
