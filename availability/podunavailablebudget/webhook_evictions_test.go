// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/fakecluster/fixture"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
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

// A denied eviction is noted on the pod of a CloneSet, again after a minute, and whatever comes of
// the note the answer is the same. (PUB-31)
func TestDeniedEvictionsAreNoted(t *testing.T) {
	protected(t, 1, func(t *testing.T, c *cluster) {
		c.scale(webPath, 2)
		c.Sleep("1s")
		w := c.webhook()
		evict := func(what, noted string, requests ...string) {
			t.Helper()
			c.ForgetRequests()
			if got := answer(w.ValidatePod(t.Context(), eviction("a", nil))); !strings.HasPrefix(got, "429 ") {
				t.Errorf("%s: answer %q", what, got)
			}
			if diff := cmp.Diff(append([]string{}, requests...), c.Sent()); diff != "" {
				t.Errorf("%s: requests (-want +got) %s", what, diff)
			}
			if got := c.livePod("a").Annotations[lifecyclev1alpha1.EvictionDeniedAnnotation]; got != noted {
				t.Errorf("%s: noted %q, want %q", what, got, noted)
			}
		}
		at := func() string { return time.Now().UTC().Format(time.RFC3339) }
		first := at()
		evict("the first time", first, "1 patch pods")
		c.Sleep("59s")
		evict("soon again", first)
		c.Sleep("2s")
		evict("after a minute", at(), "1 patch pods")
		last := at()
		c.Sleep("2m")
		c.FailBefore(fixture.Fail("patch pods", fixture.ErrInternal))
		evict("it cannot be written", last, "1 patch pods")
		c.FailBefore(nil)
		c.PatchPod("a", `{"metadata":{"ownerReferences":[{"$patch":"replace"},{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"1","controller":true}]}}`)
		c.Sleep("1s")
		evict("a pod whose workload makes no room", last)
	})
}
