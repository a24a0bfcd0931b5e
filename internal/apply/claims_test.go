// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

	s.must(claims.Delete(t.Context(), created.Name, metav1.DeleteOptions{}))
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
