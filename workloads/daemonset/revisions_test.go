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

	"github.com/podwright/podwright/inplace/revision"
)

// TestNewRevision makes the revision of a template. (DS-CR1, DS-CR2, DS-CR3)
func TestNewRevision(t *testing.T) {
	set := setOf(t, "metadata: {annotations: {a: b}}")
	plan := NewPlan(&Snapshot{Set: set, Now: noon})
	r := plan.Revisions.Create
	if got, want := string(r.Data.Raw), `{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"image":"v2","name":"main","resources":{}}]}}}}`; got != want {
		t.Errorf("data %s, want %s", got, want)
	}
	hash := strings.TrimPrefix(r.Name, "web-")
	if hash != revision.Hash(r.Data.Raw, nil) || r.Labels["controller-revision-hash"] != hash || len(r.Labels) != 2 || r.Annotations["a"] != "b" ||
		!metav1.IsControlledBy(r, set) || plan.Status.DaemonSetHash != hash || plan.Status.CurrentRevision != r.Name {
		t.Errorf("revision %s with labels %v and annotations %v, status %+v", r.Name, r.Labels, r.Annotations, plan.Status)
	}
}

// TestRecordOfInPlaceUpdate: a pod records the hash of the revision. (DS-13)
func TestRecordOfInPlaceUpdate(t *testing.T) {
	s := place(t, setOf(t, inPlace), "n1:v1+gate")
	plan := NewPlan(s)
	record := plan.Patch[0].Patch.Annotations["apps.kruise.io/inplace-update-state"]
	if record == nil || !strings.Contains(*record, `"revision":"`+plan.Status.DaemonSetHash+`"`) {
		t.Errorf("the record is %v", record)
	}
	if label := plan.Patch[0].Patch.Labels["controller-revision-hash"]; label == nil || *label != plan.Status.DaemonSetHash {
		t.Errorf("the label becomes %v", label)
	}
}

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
	for _, p := range plan.Patch {
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
