// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

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
