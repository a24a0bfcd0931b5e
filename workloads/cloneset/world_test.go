package cloneset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/snapshots"
	"github.com/podwright/podwright/internal/world"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setWorld is a world of one CloneSet.
type setWorld struct {
	*world.World
	set      *v1alpha1.CloneSet
	features Features
}

func newWorld(t world.TB) *setWorld {
	one := int32(1)
	w := &setWorld{set: &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid-web", Generation: 1, ResourceVersion: "1"},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: world.Template(),
		},
	}}
	w.World = world.New(t, *metav1.NewControllerRef(w.set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet")))
	w.GeneratedNames = true
	return w
}

func (w *setWorld) snapshot() *Snapshot {
	released := func(pod *corev1.Pod) bool { return !snapshots.OwnedBy(pod, w.set.UID) }
	return &Snapshot{
		Set: w.set.DeepCopy(), Pods: slices.DeleteFunc(slices.Clone(w.Pods), released), Claims: slices.Clone(w.Claims),
		Revisions: slices.Clone(w.Revisions), Now: w.Now, Features: w.features,
	}
}

// carryOut does to the world what a plan says.
func (w *setWorld) carryOut(plan *Plan) {
	w.WriteRevisions(&plan.Revisions)
	for _, d := range plan.Delete {
		w.DeletePod(d.Pod)
		for _, claim := range d.Claims {
			w.DeleteClaim(claim)
		}
	}
	for _, claim := range plan.DeleteClaims {
		w.DeleteClaim(claim)
	}
	for _, h := range plan.HandOver {
		w.DeleteClaim(h.Claim) // it is the pod's from now on
	}
	w.PatchPods(plan.Patch)
	w.CreatePods(plan.Create)
	w.DeleteRevisions(&plan.Revisions)
	if plan.PrunePodsToDelete {
		w.set.Spec.ScaleStrategy.PodsToDelete = plan.PodsToDelete
		w.set.Generation++
	}
	if plan.Status != nil {
		w.set.Status = *plan.Status.DeepCopy()
	}
	w.set.ResourceVersion = w.Bump()
}

// acts tells whether a plan does anything at all.
func acts(plan *Plan) bool {
	return plan.Revisions.Any() || plan.Status != nil || plan.PrunePodsToDelete ||
		len(plan.Create)+len(plan.Delete)+len(plan.Patch)+len(plan.DeleteClaims)+len(plan.HandOver) > 0
}

// Pass plans once, shows the plan and carries it out.
func (w *setWorld) Pass(out *strings.Builder) bool {
	plan := NewPlan(w.snapshot())
	var b strings.Builder
	w.show(plan, &b)
	w.carryOut(plan)
	if b.Len() > 0 {
		fmt.Fprintf(out, "pass\n%s", b.String())
	}
	return acts(plan)
}

// settle lets kubelets and controller act until there is nothing to do.
func (w *setWorld) settle() { w.Settle(w.Pass, &strings.Builder{}) }

func (w *setWorld) show(plan *Plan, out *strings.Builder) {
	w.ShowRevisions(&plan.Revisions, out)
	w.ShowCreations(plan.Create, out)
	for _, d := range plan.Delete {
		why, claims := "", ""
		if d.ForUpdate {
			why = " to recreate it"
		}
		if len(d.Claims) > 0 {
			claims = " and its claims"
		}
		fmt.Fprintf(out, "  delete %s%s%s\n", w.Alias(d.Pod.Name), why, claims)
	}
	w.ShowPatches(plan.Patch, out)
	for _, claim := range plan.DeleteClaims {
		fmt.Fprintf(out, "  delete claim %s\n", w.Unalias(claim.Name))
	}
	for _, h := range plan.HandOver {
		fmt.Fprintf(out, "  hand claim over to %s\n", w.Alias(h.Pod.Name))
	}
	w.ShowDeletedRevisions(&plan.Revisions, out)
	w.ShowWaits(plan.Waiting, out)
	for _, problem := range plan.Problems {
		w.ShowProblem(string(problem.Condition), problem.Err, out)
	}
}

// Status shows the status in a line, and every condition in one more.
func (w *setWorld) Status(out *strings.Builder) {
	s := w.set.Status
	fmt.Fprintf(out, "replicas=%d ready=%d available=%d updated=%d updatedReady=%d expectedUpdated=%d current=%s update=%s\n",
		s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.ExpectedUpdatedReplicas,
		s.CurrentRevision, s.UpdateRevision)
	for _, c := range s.Conditions {
		fmt.Fprintf(out, "%s=%s: %s\n", c.Type, c.Status, w.Unalias(c.Message))
	}
}

func (w *setWorld) MinReadySeconds() int32 { return w.set.Spec.MinReadySeconds }

// Command knows no command of CloneSets alone.
func (w *setWorld) Command(*datadriven.TestData, *strings.Builder) bool { return false }

// Feature switches a feature on.
func (w *setWorld) Feature(name string) {
	switch name {
	case "PartitionRollback":
		w.features.PartitionRollback = true
	case "ExcludePreparingDelete":
		w.features.ExcludePreparingDelete = true
	case "ShortHash":
		w.features.ShortHash = true
	default:
		w.T.Fatalf("unknown feature %s", name)
	}
}

// Spec changes fields of the spec, each given as key=value.
func (w *setWorld) Spec(changes ...string) {
	for _, change := range changes {
		key, value, _ := strings.Cut(change, "=")
		w.change(key, value)
	}
	w.set.Generation++
}

func (w *setWorld) change(key, value string) {
	spec, quantity := &w.set.Spec, intstr.Parse(value)
	number := int32(quantity.IntVal)
	switch key {
	case "replicas":
		spec.Replicas = &number
	case "partition":
		spec.UpdateStrategy.Partition = &quantity
	case "maxUnavailable":
		spec.UpdateStrategy.MaxUnavailable = &quantity
	case "maxSurge":
		spec.UpdateStrategy.MaxSurge = &quantity
	case "scaleMaxUnavailable":
		spec.ScaleStrategy.MaxUnavailable = &quantity
	case "type":
		spec.UpdateStrategy.Type = v1alpha1.CloneSetUpdateStrategyType(value)
	case "paused":
		spec.UpdateStrategy.Paused = value == "true"
	case "minReadySeconds":
		spec.MinReadySeconds = number
	case "delete":
		spec.ScaleStrategy.PodsToDelete = nil
		for alias := range strings.SplitSeq(value, ",") {
			spec.ScaleStrategy.PodsToDelete = append(spec.ScaleStrategy.PodsToDelete, w.Name(alias))
		}
	case "claims":
		spec.VolumeClaimTemplates = world.ClaimTemplates(value)
	case "disablePVCReuse":
		spec.ScaleStrategy.DisablePVCReuse = value == "true"
	case "historyLimit":
		spec.RevisionHistoryLimit = &number
	default:
		if !world.ChangeTemplate(&spec.Template, key, value) && !world.ChangeHook(&spec.Lifecycle, key, value) {
			w.T.Fatalf("unknown field %s", key)
		}
	}
}
