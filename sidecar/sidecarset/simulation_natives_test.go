// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulationOfNatives plays histories of SidecarSets whose native sidecars count as containers. (SCS-40)
func TestSimulationOfNatives(t *testing.T) {
	simulation.Check(t, simulatedNatives(bug{}))
}

// TestSimulationFindsBugsOfNatives plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfNatives(t *testing.T) {
	plant := simulation.Plant(t, simulatedNatives)
	plant("a native sidecar keeps its image", invariants.InPlace, 0, inPatches(func(_ *Snapshot, p *rollout.PodPatch) bool {
		delete(p.Patch.Images, "vpn")
		return true
	}))
	plant("what has run counts as updated", invariants.InPlace, 0, inPods(func(s *Snapshot, pod *corev1.Pod) {
		forgetWhatRan(s, pod)
	}))
	plant("native sidecars are not waited for", invariants.Availability, 0, inPods(func(_ *Snapshot, pod *corev1.Pod) {
		for i := range pod.Status.InitContainerStatuses {
			status := &pod.Status.InitContainerStatuses[i]
			status.Image, status.Ready = podstate.Lasting(pod, status.Name).Image, true
		}
	}).While(updateNatives))
}

// forgetWhatRan has a pod say that its init containers that end were those of the spec, with a hash that no revision has.
func forgetWhatRan(s *Snapshot, pod *corev1.Pod) {
	for i := range pod.Spec.InitContainers {
		for _, of := range s.Set.Spec.InitContainers {
			if c := &pod.Spec.InitContainers[i]; c.Name == of.Name && c.Name == "setup" {
				c.Image = of.Image
			}
		}
	}
	hashes, err := natives.HashesOf(s.Set)
	records, recordsErr := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	if record, is := records[s.Set.Name]; err == nil && recordsErr == nil && is && record.SidecarSetHash != hashes.Containers {
		record.SidecarSetHash = "of-no-revision"
		records[s.Set.Name] = record
		annotatePod(pod, v1alpha1.SidecarSetHashAnnotation, records)
	}
}

// natives has native sidecars count as containers.
var natives = injection.Features{NativeSidecars: true}

// simulatedNatives is what a simulation needs to know of SidecarSets with native sidecars.
func simulatedNatives(bug bug) *simulation.Subject {
	w := simulatedWith(bug, natives)
	w.Create = func(r *rand.Rand) simulation.Object {
		set := anySet(r).(*v1alpha1.SidecarSet)
		set.Spec.InitContainers = vpnAndSetup()
		if r.IntN(4) == 0 {
			set.Spec.Containers = nil
		}
		return set
	}
	w.Act = bug.Act(func(u *simulation.User, r *rand.Rand) {
		switch n := r.IntN(20); {
		case n < 10:
			act(u, r)
		case n == 10:
			editInitContainers(u, func(c *v1alpha1.SidecarContainer) { // of which running pods cannot get anything
				c.Env = [][]corev1.EnvVar{nil, nil, {{Name: "A", Value: "1"}}}[r.IntN(3)]
			})
		default:
			pushNative(u, []string{"1", "2", "3", "4", "2", "3", "bad", "nopull"}[r.IntN(8)])
		}
	})
	w.Push = func(u *simulation.User) {
		pushNative(u, "9")
		push(u)
	}
	return w
}

// pushNative gives the native sidecar an image.
func pushNative(u *simulation.User, tag string) {
	editInitContainers(u, func(c *v1alpha1.SidecarContainer) {
		if c.Name == "vpn" {
			c.Image = fmt.Sprint("vpn:", tag)
		}
	})
}

// updateNatives updates native sidecars of pods that serve, one after the other.
func updateNatives(u *simulation.User, r *rand.Rand) {
	u.Edit(`{"spec":{"updateStrategy":{"type":"RollingUpdate","maxUnavailable":1,"partition":0,"paused":false,"selector":null,"scatterStrategy":null}}}`)
	pushNative(u, fmt.Sprint(1+r.IntN(4)))
}

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

// TestSimulationOfMirrors plays histories in which a webhook of others rewrites the images of pods to those of a mirror. (SCS-41)
func TestSimulationOfMirrors(t *testing.T) {
	simulation.Check(t, mirrored(bug{}), mirroredNatives(bug{}))
}

// TestSimulationFindsBugsOfMirrors plants bugs, each of which a few seeds must find.
func TestSimulationFindsBugsOfMirrors(t *testing.T) {
	putBack := misreading(forgetHashes).While(updateInTurn)
	simulation.FindBugs(t, []simulation.Bug{
		{Name: "images of the spec replace those of the mirror", Breaks: invariants.InPlace, First: 3, Workload: mirrored(putBack)},
		{Name: "also of native sidecars", Breaks: invariants.InPlace, First: 5, Workload: mirroredNatives(putBack)},
	})
}

// mirrored is what a simulation needs to know of SidecarSets whose pods get the images of a mirror.
func mirrored(bug bug) *simulation.Subject {
	w := simulated(bug)
	w.OnlyMirrored = true
	return w
}

// mirroredNatives is the same, and native sidecars count as containers. No init container ends: if the history does not have
// the revision of a pod, its image counts as the one that has run. (SCS-40)
func mirroredNatives(bug bug) *simulation.Subject {
	w := simulatedNatives(bug)
	w.OnlyMirrored = true
	create := w.Create
	w.Create = func(r *rand.Rand) simulation.Object {
		set := create(r).(*v1alpha1.SidecarSet)
		set.Spec.InitContainers = slices.DeleteFunc(set.Spec.InitContainers, func(c v1alpha1.SidecarContainer) bool { return c.Name == "setup" })
		return set
	}
	return w
}

// forgetHashes has no revision tell its hash.
func forgetHashes(s *Snapshot) {
	for _, r := range s.Revisions {
		delete(r.Annotations, v1alpha1.SidecarSetHashAnnotation)
	}
}
