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
)

const withClaims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`

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
			c.Restart()
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
