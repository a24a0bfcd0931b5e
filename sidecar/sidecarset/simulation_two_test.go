// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulationOfTwo plays histories of two SidecarSets over the same pods, with containers and volumes of the same names. Admission
// refuses them, and they can be stored from before. (SCS-28)
func TestSimulationOfTwo(t *testing.T) {
	simulation.Check(t, two(bug{}))
}

// TestSimulationFindsBugsOfTwo plants a bug, which a few seeds must find. (SCS-28)
func TestSimulationFindsBugsOfTwo(t *testing.T) {
	alone := inPods(func(s *Snapshot, pod *corev1.Pod) { keepRecord(s, pod) })
	simulation.FindBugs(t, []simulation.Bug{{Name: "containers of the other one are updated", Breaks: invariants.Ownership, Workload: two(alone)}})
}

// keepRecord leaves a pod the record of one SidecarSet alone, or none.
func keepRecord(s *Snapshot, pod *corev1.Pod) {
	records, err := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	if record, is := records[s.Set.Name]; err == nil && is {
		annotatePod(pod, v1alpha1.SidecarSetHashAnnotation, map[string]v1alpha1.SidecarSetUpgradeRecord{s.Set.Name: record})
	} else {
		delete(pod.Annotations, v1alpha1.SidecarSetHashAnnotation)
	}
}

// also is the name of the second SidecarSet, which comes first. All of its images begin with it.
const also = "also"

// two is played with two SidecarSets of which some containers and volumes have the same names.
func two(bug bug) *simulation.Subject {
	w := simulated(bug)
	start, populate := w.Start, w.Populate
	w.Start = func(p *simulation.Process) (simulation.Controller, error) {
		c, err := start(p)
		c.Reconcile = simulation.ReconcileEach(c.Reconcile, types.NamespacedName{Name: simulation.Web.Name}, types.NamespacedName{Name: also})
		return c, err
	}
	w.Populate = func(u *simulation.User, r *rand.Rand) {
		u.CreateObject(setResource.Name, anyAlso(r))
		populate(u, r)
	}
	w.Act = bug.Act(func(u *simulation.User, r *rand.Rand) {
		switch r.IntN(8) {
		case 0:
			u.CreateObject(setResource.Name, anyAlso(r))
		case 1:
			if r.IntN(4) == 0 {
				u.DeleteObject(setResource.Name, also, metav1.DeletePropagationBackground)
			}
		case 2, 3:
			editAlso(u, r)
		default:
			act(u, r)
		}
	})
	w.Judge = func(uint64) simulation.Judge {
		return simulation.Judge{Write: invariants.SidecarsOfTwo(also),
			Settled: func(*invariants.State, bool) []invariants.Violation { return nil }}
	}
	return w
}

// anyAlso is the second SidecarSet. What web has hot it may have cold, under the name of one of both containers.
func anyAlso(r *rand.Rand) *v1alpha1.SidecarSet {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: also}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Spec.Volumes = []corev1.Volume{{Name: "shared"}}
	for _, name := range [][]string{{"log"}, {"mesh-1"}, {"log", "mesh"}, {"mesh-2", "extra"}}[r.IntN(4)] {
		c := v1alpha1.SidecarContainer{Container: corev1.Container{Name: name, Image: also + "-" + name + ":1"}}
		if name == "mesh" {
			c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: also + "-empty:1"}
		}
		set.Spec.Containers = append(set.Spec.Containers, c)
	}
	return set
}

// editAlso gives containers of the second SidecarSet other images.
func editAlso(u *simulation.User, r *rand.Rand) {
	for _, object := range u.Objects(setResource.Name) {
		set := object.DeepCopyObject().(*v1alpha1.SidecarSet)
		if set.Name != also {
			continue
		}
		for i := range set.Spec.Containers {
			c := &set.Spec.Containers[i]
			c.Image = fmt.Sprint(also, "-", c.Name, ":", 1+r.IntN(4))
		}
		u.Patch(setResource.Name, also, encoded(map[string]any{"spec": map[string]any{"containers": set.Spec.Containers}}))
	}
}
