// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/apply"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// newWriter returns what a Reconciler writes with.
func newWriter(o *Options) *apply.Writer {
	w := apply.NewWriter(o.Kubernetes)
	w.Clock = o.Clock
	w.Workloads, w.Recorder, w.Message = ResourceStatefulSets, o.Recorder, message
	w.Records = map[rollout.PatchKind]apply.Action{
		rollout.PatchUpdateInPlace: apply.UpdateInPlace,
		rollout.PatchIdentify:      apply.Update,
	}
	w.Merge = apiwriter.TypedMerge(o.Workloads.StatefulSets)
	return w
}

// statusKind says how the status of a StatefulSet reports what came of a plan.
var statusKind = apply.Kind[v1beta1.StatefulSetStatus]{
	FailedCreate: failedCreate,
	FailedUpdate: failedUpdate,
	FailedDelete: failedUpdate,
	Status:       &statuses,
	// A pod that comes back under the name of one that is gone is not ready yet.
	Shrinks: func(before, after *v1beta1.StatefulSetStatus) bool {
		return after.Replicas < before.Replicas || after.ReadyReplicas < before.ReadyReplicas
	},
}

// applier applies one plan. Every write goes through it.
type applier struct {
	*apply.Applier[v1beta1.StatefulSetStatus]
	*reconciler
	set  *v1beta1.StatefulSet
	plan *Plan
}

// begin returns the applier of a plan for a StatefulSet.
func (r *reconciler) begin(s *Snapshot, plan *Plan) *applier {
	a := &applier{reconciler: r, set: s.Set, plan: plan, Applier: &apply.Applier[v1beta1.StatefulSetStatus]{
		Sync: r.writer.Begin(s.Set), Kind: &statusKind, Plan: &plan.Plan, Status: plan.Status, Observed: &s.Set.Status,
		Selector: s.Set.Spec.Selector, Now: s.Now, Jobs: r.options.Jobs,
	}}
	a.Hold = func(err error) *rollout.Plan {
		held := *s
		held.Refused.Revision = err
		a.plan = NewPlan(&held)
		return &a.plan.Plan
	}
	a.Replaced, a.Refusals = a.replaced, s.Refused
	if r.options.Budget != nil {
		a.AllowUpdate = r.options.Budget.AllowUpdate
	}
	if r.options.Placement != nil {
		a.Place = r.options.Placement.PlacePod
	}
	return a
}

// apply applies the plan. One pod's failure does not stop the others.
func (r *reconciler) apply(ctx context.Context, s *Snapshot, plan *Plan) (requeueAfter time.Duration, err error) {
	a := r.begin(s, plan)
	requeueAfter, settled, err := a.Apply(ctx, a.adopt, []apply.Step{a.changeClaims, a.CreateClaims, a.ApplyPods, a.PullAhead}, nil)
	if !settled {
		return controller.StaleRetry, nil
	}
	return requeueAfter, err
}

// adopt adopts revisions without a controller. The pods to adopt are among the
// patches; for either the StatefulSet must still exist.
func (a *applier) adopt(ctx context.Context) error {
	revisions := a.plan.Revisions.Adopt
	if len(revisions) > 0 || slices.ContainsFunc(a.plan.Patch, func(p rollout.PodPatch) bool { return p.Kind == rollout.PatchAdopt }) {
		if err := a.mayAdopt(ctx); err != nil {
			return err
		}
	}
	return a.AdoptRevisions(ctx, revisions, ownerReference(a.set))
}

// mayAdopt asks the API server itself whether the StatefulSet still exists: what
// one that is being deleted adopts would be deleted with it.
func (a *applier) mayAdopt(ctx context.Context) error {
	live, err := a.options.Workloads.StatefulSets(a.set.Namespace).Get(ctx, a.set.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("adopt pods and revisions: read the StatefulSet: %w", err)
	}
	if live.UID != a.set.UID || live.DeletionTimestamp != nil {
		return fmt.Errorf("adopt pods and revisions: the StatefulSet with UID %s is gone or being deleted", a.set.UID)
	}
	return nil
}

// changeClaims changes the owners of claims.
func (a *applier) changeClaims(ctx context.Context) error {
	return a.Failed(failedUpdate, a.ChangeClaims(ctx, a.plan.PatchClaims))
}

// replaced remembers a pod that never ran, so that the next one waits.
func (a *applier) replaced(pod *corev1.Pod) {
	if !podplan.HasRun(pod) {
		a.places.Replaced(a.Key, pod.Name, a.options.Clock.Now())
	}
}

// ownerReference says that a StatefulSet controls something.
func ownerReference(set *v1beta1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(set, v1beta1.SchemeGroupVersion.WithKind("StatefulSet"))
}

// message is the text of the event about a write.
func message(o apply.Outcome) string {
	if o.Action == apply.UpdateInPlace {
		return apply.Plain(o)
	}
	what := "Pod " + o.Pod
	if o.Claim != "" {
		what = strings.TrimSpace("Claim " + o.Claim + " " + strings.TrimSuffix(what, "Pod "))
	}
	text := fmt.Sprintf("%s %s in StatefulSet %s", strings.ToLower(string(o.Action)), what, o.Workload)
	if o.Err != nil {
		return fmt.Sprintf("%s failed error: %v", text, o.Err)
	}
	return text + " successful"
}
