// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setScenario is a cluster of one CloneSet.
type setScenario struct {
	*scenario.Cluster
	set      *v1alpha1.CloneSet
	features Features
	lost     map[string]time.Time // nodes that cannot be reached, and since when
	unused   map[string]bool      // instances of which no pod could be created
}

func newScenario(t scenario.TB) *setScenario {
	one := int32(1)
	w := &setScenario{lost: map[string]time.Time{}, unused: map[string]bool{}, set: &v1alpha1.CloneSet{
		ObjectMeta: scenario.Meta(),
		Spec: v1alpha1.CloneSetSpec{
			Replicas: &one,
			Selector: scenario.Selector(),
			Template: scenario.Template(),
		},
	}}
	w.Cluster = scenario.New(t, *metav1.NewControllerRef(w.set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet")))
	w.GeneratedNames = true
	return w
}

func (w *setScenario) snapshot() *Snapshot {
	return &Snapshot{
		Set: w.set.DeepCopy(), Pods: owned(w, w.Pods), Claims: owned(w, w.Claims),
		Revisions: slices.Clone(w.Revisions), Now: w.Now, Features: w.features, Unreachable: w.lost, Unused: w.unused,
	}
}

// owned returns the objects that name the CloneSet as an owner.
func owned[T metav1.Object](w *setScenario, objects []T) (owned []T) {
	for _, object := range objects {
		if slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == w.set.UID }) {
			owned = append(owned, object)
		}
	}
	return owned
}

// apply does to the cluster what a plan says.
func (w *setScenario) apply(plan *Plan) {
	for _, claim := range plan.DeleteClaims {
		w.DeleteClaim(claim)
	}
	w.ApplyPlan(&plan.Plan)
	for _, c := range plan.Create {
		w.unused[instanceID(c.Pod)] = w.Pod(c.Pod.Name) == nil
	}
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
	return scenario.Acts(&plan.Plan) || plan.Status != nil || plan.PrunePodsToDelete || len(plan.DeleteClaims) > 0
}

// Reconcile plans once, shows the plan and applies it.
func (w *setScenario) Reconcile(out *strings.Builder) bool {
	plan := NewPlan(w.snapshot())
	scenario.ShowReconcile(func(out *strings.Builder) { w.show(plan, out) }, out)
	w.apply(plan)
	return acts(plan)
}

// settle lets kubelets and controller act until there is nothing to do.
func (w *setScenario) settle() { w.Settle(w.Reconcile, &strings.Builder{}) }

func (w *setScenario) show(plan *Plan, out *strings.Builder) {
	w.ShowRevisions(&plan.Revisions, out)
	w.ShowClaimCreations(plan.CreateClaims, out)
	w.showStage(&plan.Stage, out)
	for _, claim := range plan.DeleteClaims {
		fmt.Fprintf(out, "  delete claim %s\n", w.Unalias(claim.Name))
	}
	for _, h := range plan.PatchClaims {
		fmt.Fprintf(out, "  hand claim over to %s\n", w.Alias(h.Owners[len(h.Owners)-1].Name))
	}
	w.ShowDeletedRevisions(&plan.Revisions, out)
	w.ShowOtherwise(func(out *strings.Builder) { w.showStage(&plan.Otherwise, out) }, out)
	w.ShowReasons(&plan.Plan, out)
}

func (w *setScenario) showStage(stage *rollout.Stage, out *strings.Builder) {
	w.ShowCreations(stage.Create, out)
	for _, d := range stage.Delete {
		why, claims := "", ""
		if d.For == rollout.DeleteForUpdate {
			why = " to recreate it"
		}
		if len(d.DeleteClaims) > 0 {
			claims = " and its claims"
		}
		fmt.Fprintf(out, "  delete %s%s%s\n", w.Alias(d.Pod.Name), why, claims)
	}
	w.ShowPatches(stage.Patch, out)
}

// Status shows the status in a line, and every condition in one more.
func (w *setScenario) Status(out *strings.Builder) {
	s := w.set.Status
	fmt.Fprintf(out, "replicas=%d ready=%d available=%d updated=%d updatedReady=%d expectedUpdated=%d current=%s update=%s\n",
		s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.ExpectedUpdatedReplicas,
		s.CurrentRevision, s.UpdateRevision)
	for _, c := range s.Conditions {
		fmt.Fprintf(out, "%s=%s: %s\n", c.Type, c.Status, w.Unalias(c.Message))
	}
}

func (w *setScenario) MinReadySeconds() int32 { return w.set.Spec.MinReadySeconds }

// Command knows two commands. After graceful, what is deleted stays for as long as it would in a
// cluster. After lose pod, nothing is heard of its node: the controller manager has reported that, and
// that the pod is not ready.
func (w *setScenario) Command(d *datadriven.TestData, _ *strings.Builder) bool {
	switch d.Cmd {
	case "graceful":
		w.Graceful = true
	case "lose":
		name := w.Name(d.CmdArgs[0].Key)
		w.lost[w.Pod(name).Spec.NodeName] = w.Now
		w.Freeze(name, true)
		w.Edit(name, func(pod *corev1.Pod) { w.SetCondition(pod, corev1.PodReady, corev1.ConditionFalse) })
	default:
		return false
	}
	return true
}

// Feature switches a feature on.
func (w *setScenario) Feature(name string) { w.SwitchOn(&w.features, name) }

// Spec changes fields of the spec, each given as key=value.
func (w *setScenario) Spec(changes ...string) {
	scenario.ChangeSpec(w.set, changes, w.change)
}

func (w *setScenario) change(key, value string) {
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
	case "priority":
		spec.UpdateStrategy.PriorityStrategy = &inplacev1alpha1.UpdatePriorityStrategy{
			OrderPriority: []inplacev1alpha1.UpdatePriorityOrderTerm{{OrderedKey: value}}}
	case "scaleMaxUnavailable":
		spec.ScaleStrategy.MaxUnavailable = &quantity
	case "type":
		spec.UpdateStrategy.Type = v1alpha1.CloneSetUpdateStrategyType(value)
	case "paused":
		spec.UpdateStrategy.Paused = value == "true"
	case "minReadySeconds":
		spec.MinReadySeconds = number
	case "deadline":
		spec.ProgressDeadlineSeconds = &number
	case "delete":
		spec.ScaleStrategy.PodsToDelete = nil
		for alias := range strings.SplitSeq(value, ",") {
			spec.ScaleStrategy.PodsToDelete = append(spec.ScaleStrategy.PodsToDelete, w.Name(alias))
		}
	case "claims":
		spec.VolumeClaimTemplates = scenario.ClaimTemplates(value)
	case "disablePVCReuse":
		spec.ScaleStrategy.DisablePVCReuse = value == "true"
	case "historyLimit":
		spec.RevisionHistoryLimit = &number
	default:
		if !scenario.ChangeTemplate(&spec.Template, key, value) && !scenario.ChangeHook(&spec.Lifecycle, key, value) {
			w.T.Fatalf("unknown field %s", key)
		}
	}
}
