// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// setScenario is a cluster of one StatefulSet.
type setScenario struct {
	*scenario.Cluster
	set      *v1beta1.StatefulSet
	features Features
}

func newScenario(t scenario.TB) *setScenario {
	w := &setScenario{set: patches.Changed(words, &v1beta1.StatefulSet{}, "new")}
	w.Cluster = scenario.New(t, *metav1.NewControllerRef(w.set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet")), words)
	w.Graceful = true
	return w
}

// scripted is a new scenario as a player of scripts.
func scripted(t scenario.TB) (*scenario.Cluster, *setScenario) {
	w := newScenario(t)
	return w.Cluster, w
}

func (w *setScenario) snapshot() *Snapshot {
	s := &Snapshot{
		Set: w.set.DeepCopy(), Pods: slices.Clone(w.Pods), Claims: map[string]*corev1.PersistentVolumeClaim{},
		Revisions: slices.Clone(w.Revisions), Now: w.Now, Features: w.features,
	}
	for _, claim := range w.Claims {
		s.Claims[claim.Name] = claim
	}
	if w.OwnerEnding() {
		s.Set.DeletionTimestamp = &metav1.Time{Time: w.Now}
	}
	return s
}

// apply does to the cluster what a plan says.
func (w *setScenario) apply(plan *Plan) {
	w.ApplyPlan(&plan.Plan)
	if plan.Status != nil {
		w.set.Status = *plan.Status.DeepCopy()
	}
	w.set.ResourceVersion = w.Bump()
}

// acts tells whether a plan does anything at all.
func acts(plan *Plan) bool {
	return scenario.Acts(&plan.Plan) || plan.Status != nil
}

// Reconcile plans once, shows the plan and applies it.
func (w *setScenario) Reconcile(out *strings.Builder) bool {
	if w.OwnerGone() {
		return false
	}
	plan := NewPlan(w.snapshot())
	scenario.ShowReconcile(func(out *strings.Builder) { w.show(plan, out) }, out)
	w.apply(plan)
	return acts(plan)
}

func (w *setScenario) show(plan *Plan, out *strings.Builder) {
	w.ShowRevisions(&plan.Revisions, out)
	w.ShowClaimCreations(plan.CreateClaims, out)
	for _, claim := range plan.PatchClaims {
		w.ShowOwners(claim.Claim, claim.Owners, out)
	}
	for _, d := range plan.Delete {
		for _, claim := range d.ChangeClaims {
			w.ShowOwners(claim.Claim, claim.Owners, out)
		}
		fmt.Fprintf(out, "  delete %s (%s)\n", d.Pod.Name, d.For)
	}
	w.ShowPatches(plan.Patch, out)
	w.ShowCreations(plan.Create, out)
	w.ShowOtherwise(func(out *strings.Builder) {
		for _, d := range plan.Otherwise.Delete {
			fmt.Fprintf(out, "  delete %s (%s)\n", d.Pod.Name, d.For)
		}
		w.ShowPatches(plan.Otherwise.Patch, out)
	}, out)
	w.ShowDeletedRevisions(&plan.Revisions, out)
	for _, job := range plan.PreDownload.Create {
		fmt.Fprintf(out, "  pull %s ahead\n", job.Spec.Image)
	}
	w.ShowReasons(&plan.Plan, out)
}

// Status shows the status in a line, and every condition in one more.
func (w *setScenario) Status(out *strings.Builder) {
	s := w.set.Status
	fmt.Fprintf(out, "replicas=%d ready=%d available=%d currentReplicas=%d updated=%d updatedReady=%d current=%s update=%s\n",
		s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.CurrentReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas,
		s.CurrentRevision, s.UpdateRevision)
	for _, c := range s.Conditions {
		fmt.Fprintf(out, "%s=%s: %s\n", c.Type, c.Status, c.Message)
	}
}

// MinReadySeconds is 0 with OnDelete.
func (w *setScenario) MinReadySeconds() int32 {
	if r := w.set.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MinReadySeconds != nil {
		return *r.MinReadySeconds
	}
	return 0
}

// Command knows no command of its own.
func (w *setScenario) Command(*datadriven.TestData, *strings.Builder) bool { return false }

// Feature switches a feature on.
func (w *setScenario) Feature(name string) { w.SwitchOn(&w.features, name) }

// Spec changes fields of the spec, each given as key=value, in one write.
func (w *setScenario) Spec(changes ...string) { scenario.ChangeSpec(words, w.set, changes...) }

// TestScripts plays the rollouts in testdata: see scenario.RunScripts. Keys of spec are words of StatefulSets, which
// testdata/words.yaml explains.
func TestScripts(t *testing.T) { scenario.RunScripts(t, "testdata/scripts", scripted) }
