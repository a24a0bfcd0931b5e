// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestClaims(t *testing.T) {
	s := newFixture(t)
	claims := s.user.CoreV1().PersistentVolumeClaims("shop")
	created, err := claims.Create(t.Context(), claim("data-web-0"), metav1.CreateOptions{})
	s.must(err)

	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web-0","uid":"u"}]}}`, created.UID)
	if err := s.PatchClaim(t.Context(), created, []byte(patch)); err != nil || s.waitsFor() == "" {
		t.Errorf("patch: error %v, the next reconcile waits for %q", err, s.waitsFor())
	}
	owned, err := claims.Get(t.Context(), created.Name, metav1.GetOptions{})
	if err != nil || len(owned.OwnerReferences) != 1 {
		t.Errorf("error %v, owners %v", err, owned.OwnerReferences)
	}

	s.fail("delete persistentvolumeclaims", errQuota)
	if err := s.DeleteClaim(t.Context(), created); !apierrors.IsForbidden(err) {
		t.Errorf("deletion: error %v", err)
	}
	want := []string{"Warning FailedDelete: delete claim data-web-0: pods is forbidden: exceeded quota"}
	if diff := cmp.Diff(want, s.events.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.FailBefore(nil)
	for range 2 { // one that is gone already is no error
		if err := s.DeleteClaim(t.Context(), created); err != nil {
			t.Errorf("deletion: error %v", err)
		}
	}
	if err := s.PatchClaim(t.Context(), created, []byte(patch)); err != nil {
		t.Errorf("patch of a claim that is gone: error %v", err)
	}
	_, err = claims.Create(t.Context(), claim("data-web-0"), metav1.CreateOptions{})
	s.must(err)
	if err := s.PatchClaim(t.Context(), created, []byte(patch)); err != nil {
		t.Errorf("patch of a claim that has been replaced: error %v", err)
	}
	s.fail("patch persistentvolumeclaims", errQuota)
	if err := s.PatchClaim(t.Context(), created, []byte(patch)); !apierrors.IsForbidden(err) {
		t.Errorf("patch: error %v", err)
	}
}

// TestDeleteClaim: a claim goes in any state, but not if another manager
// has noted meanwhile that it reuses it. (CS-24)
func TestDeleteClaim(t *testing.T) {
	for change, want := range map[string]bool{
		`{"metadata":{"labels":{"bound":"true"}}}`:                       true,
		`{"metadata":{"annotations":{"example.com/reused-by":"later"}}}`: false,
	} {
		s := newFixture(t)
		s.ReuseNote = "example.com/reused-by"
		claims := s.user.CoreV1().PersistentVolumeClaims("shop")
		observed, err := claims.Create(t.Context(), claim("data-web-0"), metav1.CreateOptions{})
		s.must(err)
		_, err = claims.Patch(t.Context(), observed.Name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
		s.must(err)
		s.must(s.DeleteClaim(t.Context(), observed))
		if _, err := claims.Get(t.Context(), observed.Name, metav1.GetOptions{}); apierrors.IsNotFound(err) != want {
			t.Errorf("changed by %s: read after its deletion: %v", change, err)
		}
	}
}
