// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

const withClaims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`

// A user deletes the claim of a pod that no node has: it could never be scheduled.
func TestClaimThatAPodWaitsFor(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "claims=data")
	w.apply(NewPlan(w.snapshot()))
	w.Kubelet(w.Pods[0].Name)
	for _, pod := range w.Pods {
		w.RemoveClaim("data-" + pod.Name)
	}
	plan := NewPlan(w.snapshot())
	var created []string
	for _, claim := range plan.CreateClaims {
		created = append(created, claim.Name)
		if !metav1.IsControlledBy(claim, w.set) || claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == "" {
			t.Errorf("claim %+v, want one of the CloneSet and an instance", claim.ObjectMeta)
		}
	}
	if diff := cmp.Diff([]string{"data-" + w.Pods[1].Name, "data-" + w.Pods[2].Name}, created); diff != "" {
		t.Errorf("claims of pods that no node has (-want +got):\n%s", diff)
	}
	w.Spec("delete=p2") // its claims go with it: none is created that would be left
	if plan := NewPlan(w.snapshot()); len(plan.Delete) != 1 || len(plan.CreateClaims) != 1 {
		t.Errorf("%d pods are deleted, %d claims created: want 1 each", len(plan.Delete), len(plan.CreateClaims))
	}
	w.Spec("claims=other") // of which there is no template any more
	if plan := NewPlan(w.snapshot()); len(plan.CreateClaims) != 0 {
		t.Errorf("%d claims are created, which no template asks for", len(plan.CreateClaims))
	}
}

// Pods are refused, and claims are not to be used again. A claim that was made for a pod that never came is used for the next
// one. Otherwise it would be deleted and another one made, without end.
func TestClaimOfAPodThatWasRefused(t *testing.T) {
	w := newScenario(t)
	w.Spec("replicas=3", "claims=data", "disablePVCReuse=true")
	w.Refused = map[string]bool{"create": true}
	w.apply(NewPlan(w.snapshot()))
	w.apply(NewPlan(w.snapshot()))
	for range 2 {
		plan := NewPlan(w.snapshot())
		if len(plan.Create) != 3 {
			t.Fatalf("%d pods are created", len(plan.Create))
		}
		if n := len(plan.DeleteClaims); n > 0 {
			t.Errorf("%d claims are deleted, and %d made anew", n, len(plan.Create[0].Claims))
		}
		w.apply(plan)
	}
	w.Spec("replicas=0")
	if plan := NewPlan(w.snapshot()); len(plan.DeleteClaims) != len(w.Claims) {
		t.Errorf("%d of %d claims are deleted that no pod uses", len(plan.DeleteClaims), len(w.Claims))
	}
}

// TestClaimThatAPodOwns: a pod that no node has owns its claim, since it was
// about to be released, or a user has made the claim again.
func TestClaimThatAPodOwns(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(1, withClaims)
		c.MustReconcile()
		pod := c.Pods()[0]
		claim := "data-" + pod.Name
		claims := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace)
		c.Must(claims.Delete(t.Context(), claim, metav1.DeleteOptions{}))
		if got := c.MustReconcile(); !slices.Contains(got, "1 create persistentvolumeclaims") {
			t.Errorf("requests %q, want the claim to be created again", got)
		}
		_, err := claims.Patch(t.Context(), claim, types.MergePatchType, fmt.Appendf(nil,
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":%q,"uid":%q}]}}`, pod.Name, pod.UID), metav1.PatchOptions{})
		c.Must(err)
		for range 3 {
			want := []string{"1 create persistentvolumeclaims"}
			if diff := cmp.Diff(want, c.MustReconcile()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		}
	})
}

// TestLateDeletionOfAClaim: CS-24. A manager that begins keeps the claims which it reuses
// from deletions that the one before it has sent, and that are served late. One that
// has been there for a while has no need to.
func TestLateDeletionOfAClaim(t *testing.T) {
	for wait, late := range map[string]bool{"0s": true, "3m": false} {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(1, withClaims)
			c.Settle()
			c.restart()
			c.Settle()
			c.Sleep(wait)
			pod := c.Pods()[0]
			claims := c.Client("user").CoreV1().PersistentVolumeClaims(web.Namespace)
			claim, err := claims.Get(t.Context(), "data-"+pod.Name, metav1.GetOptions{})
			c.Must(err)
			c.RemovePod(pod.Name)
			sent := strings.Join(c.Settle(), " ")
			if name := c.PodNames()[0]; name != pod.Name || strings.Contains(sent, "patch persistentvolumeclaims") != late {
				t.Errorf("after %s: pod %s reuses the claim of %s, by the requests %s", wait, name, pod.Name, sent)
			}
			err = claims.Delete(t.Context(), claim.Name, metav1.DeleteOptions{
				Preconditions: &metav1.Preconditions{UID: &claim.UID, ResourceVersion: &claim.ResourceVersion}})
			if apierrors.IsConflict(err) != late {
				t.Errorf("after %s: the deletion that comes late: %v", wait, err)
			}
		})
	}
}
