// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulationOfStartupProbes plays histories of SidecarSets whose containers and native sidecars have startup probes. When its
// kubelets restart a container, they say that it has started, until they ask the probe. (SCS-8, SCS-40, IP-45)
func TestSimulationOfStartupProbes(t *testing.T) {
	simulation.Check(t, simulatedStartup(bug{}))
}

// TestSimulationFindsBugsOfStartupProbes plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfStartupProbes(t *testing.T) {
	believes := misreading(func(s *Snapshot) { s.Pods = simulation.Believing(s.Pods) })
	plant := simulation.Plant(t, simulatedStartup)
	plant("the kubelet is believed at once", invariants.Availability, 3, believes.While(updateInTurn))
	plant("the kubelet is believed at once of native sidecars", invariants.Availability, 7, believes.While(updateNatives))
}

// simulatedStartup is what a simulation needs to know of SidecarSets whose containers have startup probes.
func simulatedStartup(bug bug) *simulation.Subject {
	w := simulatedNatives(bug)
	create := w.Create
	w.StartupProbes = true
	w.Create = func(r *rand.Rand) simulation.Object {
		set := create(r).(*v1alpha1.SidecarSet)
		for _, all := range [][]v1alpha1.SidecarContainer{set.Spec.Containers, set.Spec.InitContainers} {
			for i := range all {
				if c := &all[i]; c.Name != "setup" && r.IntN(3) > 0 {
					c.StartupProbe = &corev1.Probe{PeriodSeconds: []int32{0, 4, 10, 30}[r.IntN(4)],
						ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"up"}}}}
				}
			}
		}
		return set
	}
	return w
}
