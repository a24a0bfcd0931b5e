// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// Describe is everything that a plan says, whatever object it says it about: that is told by its name. Of the claims that it
// changes the owners that come and go are told. More is what a kind adds.
func Describe(p *rollout.Plan, more ...any) string {
	d := &description{}
	r := &p.Revisions
	for _, revision := range slices.Concat([]*appsv1.ControllerRevision{r.Current, r.Update, r.Create, r.Raise}, r.Adopt, r.Delete) {
		if revision != nil {
			d.show(revision.Name)
		}
	}
	d.show(r.RaiseTo, len(r.Delete), p.Create, p.CreateClaims, p.RequeueAfter, p.PreDownload)
	d.show(more...)
	d.claims(p.PatchClaims)
	for _, stage := range []rollout.Stage{p.Stage, p.Otherwise} {
		for _, deleted := range stage.Delete {
			d.show(deleted.Pod.Name, deleted.For, len(deleted.DeleteClaims))
			d.claims(deleted.ChangeClaims)
		}
		for _, patch := range stage.Patch {
			d.show(patch.Pod.Name, patch.Kind, patch.Patch)
		}
	}
	d.waits(p.Waiting)
	for _, problem := range p.Problems {
		d.show(problem.Condition, problem.Err.Error())
	}
	return d.String()
}

type description struct{ strings.Builder }

func (d *description) show(v ...any) {
	data, err := json.Marshal(v)
	fmt.Fprintf(d, "%s %v\n", data, err)
}

// claims tells which owners come and go.
func (d *description) claims(claims []rollout.ClaimPatch) {
	beside := func(owners, others []metav1.OwnerReference) []metav1.OwnerReference {
		return slices.DeleteFunc(slices.Clone(owners), func(o metav1.OwnerReference) bool {
			return slices.ContainsFunc(others, func(other metav1.OwnerReference) bool { return other.UID == o.UID })
		})
	}
	for _, c := range claims {
		d.show(c.Claim.Name, beside(c.Owners, c.Claim.OwnerReferences))
		for _, owner := range beside(c.Claim.OwnerReferences, c.Owners) {
			d.show(owner.UID)
		}
	}
}

func (d *description) waits(waits []rollout.Wait) {
	for _, wait := range waits {
		name := ""
		if wait.Pod != nil {
			name = wait.Pod.Name
		}
		d.show(name, wait.Reason)
	}
}
