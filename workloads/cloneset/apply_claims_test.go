// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestDeleteClaim: a claim goes in any state, but not if another manager
// has noted meanwhile that it reuses it. One that is gone is no error. (CS-24)
func TestDeleteClaim(t *testing.T) {
	for _, test := range []struct {
		name, change string
		gone         bool // before
		fail         error
		left         bool
		lost         []string // what is looked for before the next reconcile
		event        int
	}{
		{name: "CS-24: it is as it was observed"},
		{name: "CS-24: it has changed", change: `{"metadata":{"labels":{"bound":"true"}}}`},
		{name: "CS-24: another manager reuses it", change: `{"metadata":{"annotations":{"` + v1alpha1.CloneSetClaimReusedAnnotation + `":"later"}}}`, left: true},
		{name: "CS-24: it is gone", gone: true},
		{name: "it is refused", fail: fixture.ErrQuota, left: true, event: 1},
		{name: "the answer is lost", fail: fixture.ErrLost, left: true, lost: []string{"persistentvolumeclaims data-web-0"}, event: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(0, "")
				claims := c.Kube.CoreV1().PersistentVolumeClaims("default")
				observed, err := claims.Create(t.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-web-0"}}, metav1.CreateOptions{})
				c.Must(err)
				if test.change != "" {
					_, err = claims.Patch(t.Context(), observed.Name, types.MergePatchType, []byte(test.change), metav1.PatchOptions{})
					c.Must(err)
				}
				if test.gone {
					c.Must(claims.Delete(t.Context(), observed.Name, metav1.DeleteOptions{}))
				}
				if test.fail != nil {
					c.FailBefore(fixture.Fail("delete persistentvolumeclaims", test.fail))
				}
				a := controller.KindOf(c.reconciler).Self.(*reconciler).begin(&Snapshot{Set: c.get()}, &Plan{})
				if err := a.deleteClaim(t.Context(), observed); (err != nil) != (test.fail != nil) {
					t.Errorf("error %v", err)
				}
				if _, err := claims.Get(t.Context(), observed.Name, metav1.GetOptions{}); apierrors.IsNotFound(err) == test.left {
					t.Errorf("read after its deletion: %v, left: %t", err, test.left)
				}
				var lost []string
				c.Must(a.Own.Settle(a.Key, func(resource Resource, name string) (string, bool, error) {
					lost = append(lost, string(resource)+" "+name)
					return "", false, nil
				}))
				if diff := cmp.Diff(test.lost, lost); diff != "" {
					t.Errorf("what is looked for (-want +got):\n%s", diff)
				}
				if n := c.Events.Count("FailedDelete"); n != test.event {
					t.Errorf("%d events, want %d", n, test.event)
				}
			})
		})
	}
}
