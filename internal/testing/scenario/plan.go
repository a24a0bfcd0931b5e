// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/podwright/podwright/inplace/rollout"
)

// SwitchOn sets a field of the features of a kind, which features points to.
func (w *Cluster) SwitchOn(features any, name string) {
	field := reflect.ValueOf(features).Elem().FieldByName(name)
	if !field.IsValid() || field.Kind() != reflect.Bool {
		w.T.Fatalf("unknown feature %s", name)
	}
	field.SetBool(true)
}

// ApplyPlan does to the cluster what the plans of all kinds say.
func (w *Cluster) ApplyPlan(plan *rollout.Plan) {
	w.writeRevisions(&plan.Revisions)
	w.createClaims(plan.CreateClaims)
	w.ownClaims(plan.PatchClaims)
	w.changed = false
	for _, stage := range []*rollout.Stage{&plan.Stage, &plan.Otherwise} {
		if w.changed {
			break // the second stage is for pods that the first one has not changed
		}
		for _, d := range stage.Delete {
			w.ownClaims(d.ChangeClaims)
			if w.deletePod(d.Pod) {
				for _, claim := range d.DeleteClaims {
					w.DeleteClaim(claim)
				}
			}
		}
		w.patchPods(stage.Patch)
		w.createPods(stage.Create)
	}
	for _, r := range plan.Revisions.Delete {
		w.Revisions = without(w.Revisions, r.Name)
	}
}

func (w *Cluster) ownClaims(patches []rollout.ClaimPatch) {
	for _, claim := range patches {
		w.ownClaim(claim.Claim, claim.Owners)
	}
}

// Acts tells whether a plan does anything of what ApplyPlan applies, in its first stage.
func Acts(plan *rollout.Plan) bool {
	return plan.Revisions.Any() || !plan.Stage.Empty() || len(plan.CreateClaims)+len(plan.PatchClaims) > 0
}

// ShowReconcile writes what show writes about a reconcile, below a line that says so;
// nothing if that is nothing.
func ShowReconcile(show func(out *strings.Builder), out *strings.Builder) {
	var shown strings.Builder
	if show(&shown); shown.Len() > 0 {
		fmt.Fprintf(out, "reconcile\n%s", shown.String())
	}
}

// ShowOtherwise writes what show writes about the second stage of a plan, if the
// first one may be refused.
func (w *Cluster) ShowOtherwise(show func(out *strings.Builder), out *strings.Builder) {
	if w.Quota == 0 && len(w.Refused) == 0 {
		return
	}
	var otherwise strings.Builder
	show(&otherwise)
	out.WriteString(strings.ReplaceAll(otherwise.String(), "  ", "  otherwise "))
}

// ShowReasons writes which pods wait for what, and the problems of a plan.
func (w *Cluster) ShowReasons(plan *rollout.Plan, out *strings.Builder) {
	w.showWaits(plan.Waiting, out)
	for _, problem := range plan.Problems {
		fmt.Fprintf(out, "  %s: %s\n", problem.Condition, w.Unalias(problem.Err.Error()))
	}
}
