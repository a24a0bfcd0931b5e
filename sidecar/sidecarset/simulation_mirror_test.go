// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

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
