// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHistories shows what is planned for revisions and for images ahead, for the states in testdata/revisions.txt. There are revisions of the images
// v0, v1 and v2, which is the present one. The states are as those of TestPlans.
func TestHistories(t *testing.T) {
	datadriven.RunTest(t, "testdata/revisions.txt", func(t *testing.T, d *datadriven.TestData) string {
		s := placeOf(t, d)
		s.Set.Status.ObservedGeneration = -1 // there is a status to write
		names := map[string]string{}
		for _, image := range versions {
			names[revisionOf(t, s.Set, image).Name] = image
		}
		return showPlan(t, s) + showHistory(NewPlan(s), names)
	})
}

// showHistory shows what a plan makes of revisions, by their images.
func showHistory(plan *Plan, names map[string]string) string {
	var out strings.Builder
	note := func(what string, r *appsv1.ControllerRevision) {
		fmt.Fprintln(&out, what, cmp.Or(names[r.Name], r.Name))
	}
	for _, r := range plan.Revisions.Adopt {
		note("adopts", r)
	}
	for _, r := range plan.Revisions.Delete {
		note("deletes", r)
	}
	if r := plan.Revisions.Raise; r != nil {
		note(fmt.Sprint("raises to ", plan.Revisions.RaiseTo), r)
	}
	if r := plan.Revisions.Create; r != nil {
		fmt.Fprintln(&out, "creates", r.Name, r.Labels, r.Annotations, "of", metav1.GetControllerOf(r).UID, string(r.Data.Raw))
	}
	for _, p := range plan.Patch {
		if record := p.Patch.Annotations["apps.kruise.io/inplace-update-state"]; record != nil {
			fmt.Fprintln(&out, "the record is", *record)
		}
		if label := p.Patch.Labels["controller-revision-hash"]; label != nil {
			fmt.Fprintln(&out, "the label becomes", names["web-"+*label])
		}
	}
	if status := plan.Status; status != nil {
		current := cmp.Or(names[status.CurrentRevision], status.CurrentRevision)
		fmt.Fprintln(&out, "current", current, "updated", status.UpdatedNumberScheduled, "to", cmp.Or(names["web-"+status.DaemonSetHash], status.DaemonSetHash))
	}
	for _, job := range plan.PreDownload.Create {
		fmt.Fprintln(&out, "pulls", job.Spec.Image)
	}
	if plan.PreDownload.Reason != "" {
		fmt.Fprintln(&out, "pulls no more:", plan.PreDownload.Reason)
	}
	if plan.PreDownload.Label != "" {
		fmt.Fprintln(&out, "pulls are decided")
	}
	for _, job := range plan.PreDownload.Delete {
		fmt.Fprintln(&out, "ends the job", job)
	}
	return out.String()
}
