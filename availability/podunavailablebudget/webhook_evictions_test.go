// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
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

// A pod that turns ready while it is read, and is counted, is booked as any other. (PUB-33)
func TestEvictedWhileItTurnsReady(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		c.PatchPod("a", unreadyPatch, "status")
		c.Sleep("1s")
		w := c.webhook()
		if got := answer(w.ValidatePod(t.Context(), deletion(c.livePod("b"), metav1.DeleteOptions{}))); !strings.HasPrefix(got, "403 ") {
			t.Fatalf("answer %q: the test has nothing to show", got)
		}
		reads := 0
		c.FailAfter(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "get pods" {
				if reads++; reads == 1 {
					c.PatchPod("a", readyPatch, "status")
					c.Sleep("1s") // it is counted
				}
			}
			return nil
		})
		if got := answer(w.ValidatePod(t.Context(), eviction("a", nil))); got != "" {
			t.Errorf("answer %q", got)
		}
		if reads != 2 {
			t.Errorf("the pod was read %d times, want 2", reads)
		}
		c.expect("it is booked", "web", "2 of 3 available, 2 desired, 0 allowed; 3 linked; 1 recorded")
	})
}

// A pod that is evicted before it is told of its budget does not count. That holds even if it is told and turns ready before
// it is gone. (PUB-14.1)
func TestEvictedBeforeItIsTold(t *testing.T) {
	for _, controller := range []string{"web", "web-5d8f", "other", ""} {
		protected(t, 3, func(t *testing.T, c *cluster) {
			c.PatchPod("a", unreadyPatch, "status")
			owner := fmt.Sprintf(`,{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"uid":"1","controller":true}`, controller)
			if controller == "" {
				owner = ""
			}
			c.PatchPod("a", `{"metadata":{"annotations":{"kruise.io/related-pub":null},"ownerReferences":[{"$patch":"replace"}`+owner+`]}}`)
			c.Sleep("1s")
			c.ForgetRequests()
			if got := answer(c.webhook().ValidatePod(t.Context(), eviction("a", nil))); got != "" {
				t.Errorf("answer %q", got)
			}
			sent := strings.Join(c.Sent(), ", ")
			if recorded, want := strings.Contains(sent, "patch podunavailablebudgets/status"), strings.HasPrefix(controller, "web"); recorded != want {
				t.Errorf("controlled by %q: recorded %t, want %t: %s", controller, recorded, want, sent)
			}
		})
	}
}

// A pod that has moved to another budget since it was seen is not judged by the one before. (PUB-20, PUB-33)
func TestEvictedAfterItMoved(t *testing.T) {
	protected(t, 3, func(t *testing.T, c *cluster) {
		before := c.livePod("a").DeepCopy()
		before.Status.Conditions = nil // so that it is read
		for _, tt := range []struct {
			now  string
			want bool
		}{{"other", true}, {"web", false}, {"", false}} {
			live := c.livePod("a").DeepCopy()
			live.Annotations[v1alpha1.RelatedPubAnnotation] = tt.now
			_, err := c.guard().decide(t.Context(), inquiry{pod: before, operation: v1alpha1.PubEvictOperation, dryRun: true,
				live: func(context.Context) (*corev1.Pod, error) { return live, nil }})
			if apierrors.IsConflict(err) != tt.want || !tt.want && err != nil {
				t.Errorf("PUB-33: it named web, and names %q now: error %v", tt.now, err)
			}
		}
	})
}
