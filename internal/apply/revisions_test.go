// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
)

// Revisions of a workload without a namespace stand in another one: there they are created, adopted and deleted.
func TestRevisionNamespace(t *testing.T) {
	s := newFixture(t)
	s.RevisionNamespace = "system"
	revisions := s.user.AppsV1().ControllerRevisions("system")
	r := history("web-2", "nginx:2")
	r.Namespace = "system"
	a := s.applier(&rollout.Plan{Revisions: revision.Changes{Create: r, Current: r}})
	if settled, err := a.WriteRevisions(t.Context()); err != nil || !settled {
		t.Fatalf("settled %t, error %v", settled, err)
	}
	stored, err := revisions.Get(t.Context(), "web-2", metav1.GetOptions{})
	s.must(err)
	s.must(s.AdoptRevisions(t.Context(), []*appsv1.ControllerRevision{stored}, owner("set")))
	stored, err = revisions.Get(t.Context(), "web-2", metav1.GetOptions{})
	s.must(err)
	if len(stored.OwnerReferences) != 1 || stored.OwnerReferences[0].UID != "set" {
		t.Errorf("owners %v", stored.OwnerReferences)
	}
	s.must(s.DeleteRevisions(t.Context(), []*appsv1.ControllerRevision{stored}))
	if _, err := revisions.Get(t.Context(), "web-2", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want it deleted", err)
	}
}
