// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An eviction that is denied is answered as a PodDisruptionBudget answers it. (PUB-28)
func TestDeniedEviction(t *testing.T) {
	protected(t, 1, func(t *testing.T, c *cluster) {
		c.scale(webPath, 2)
		c.Sleep("1s")
		result := c.webhook().ValidatePod(t.Context(), eviction("a", nil)).Result
		want := &metav1.Status{Status: "Failure", Code: 429, Reason: metav1.StatusReasonTooManyRequests,
			Message: `podunavailablebudget.policy.kruise.io "web" is forbidden: pub unavailable allowed is negative`,
			Details: &metav1.StatusDetails{Name: "a", Kind: "pods", RetryAfterSeconds: 5, Causes: []metav1.StatusCause{{
				Type: policyv1.DisruptionBudgetCause, Message: "PodUnavailableBudget web: pub unavailable allowed is negative"}}}}
		if diff := cmp.Diff(want, result); diff != "" {
			t.Errorf("(-want +got) %s", diff)
		}
		err := &apierrors.StatusError{ErrStatus: *result}
		if !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
			t.Errorf("clients do not know %v", err)
		}
	})
}

const (
	readyPatch   = `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`
	unreadyPatch = `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`
)
