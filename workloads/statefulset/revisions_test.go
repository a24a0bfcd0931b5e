// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/podplan"
)

func TestNewRevision(t *testing.T) {
	s := testSnapshot(t, "A/A 0A")
	s.Set.Spec.Template.Spec.Containers[0].Image = "z"
	r := NewPlan(s).Revisions.Create
	if r == nil {
		t.Fatal("no revision is created")
	}
	owner := metav1.OwnerReference{APIVersion: "apps.kruise.io/v1beta1", Kind: "StatefulSet", Name: "web", UID: "uid-web", Controller: new(true), BlockOwnerDeletion: new(true)}
	if diff := cmp.Diff([]metav1.OwnerReference{owner}, r.OwnerReferences); diff != "" {
		t.Errorf("owner (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(string(r.Data.Raw), `{"spec":{"template":{"$patch":"replace",`) || r.Revision != 2 {
		t.Errorf("revision %d with data %s", r.Revision, r.Data.Raw)
	}
}

func TestLongName(t *testing.T) {
	s := testSnapshot(t, "A/A replicas=1")
	s.Set.Name = strings.Repeat("w", 58)
	s.Revisions = nil
	plan := NewPlan(s)
	label := plan.Create[0].Pod.Labels[podplan.RevisionLabel]
	if label == "" || len(label) > 63 || !strings.HasSuffix(plan.Revisions.Create.Name, label) {
		t.Errorf("the label of revision %s is %q", plan.Revisions.Create.Name, label)
	}
}
