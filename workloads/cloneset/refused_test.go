// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestUpdateWhereScalingIsRefused: the update goes on if no pod can be
// created, and only if it is known that none was.
func TestUpdateWhereScalingIsRefused(t *testing.T) {
	const surge = `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":1,"maxSurge":1}}}`
	refused := []string{"1 create controllerrevisions", "1 create pods", "1 patch clonesets/status"}
	goesOn := []string{"1 create controllerrevisions", "1 create pods", "1 patch clonesets/status", "1 patch pods", "1 patch pods/status"}
	asks := []string{"1 create controllerrevisions", "1 create pods", "1 get pods", "1 patch clonesets/status", "1 patch pods", "1 patch pods/status"}
	for _, test := range []struct {
		name          string
		before, after func(fakecluster.Request) error
		want          []string
	}{
		{"a quota", fixture.Fail("create pods", fixture.ErrQuota), nil, goesOn},
		{"a webhook that is down", fixture.Fail("create pods", fixture.ErrInternal), nil, asks},
		{"a request that is lost may still be on its way", fixture.Fail("create pods", fixture.ErrLost), nil, refused},
		{"a request that was served, and its answer lost", nil, fixture.Fail("create pods", fixture.ErrLost), refused},
		{"a request that was served, and answered with an error", nil, fixture.Fail("create pods", fixture.ErrInternal),
			[]string{"1 create controllerrevisions", "1 create pods", "1 get pods", "1 patch clonesets/status"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(5, surge)
				c.Settle()
				c.SetImage("nginx:2")
				c.FailBefore(test.before)
				c.FailAfter(test.after)
				requests, _, err := c.ReconcileOnce()
				if err == nil {
					t.Error("no error")
				}
				if diff := cmp.Diff(test.want, requests); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
	t.Run("it comes to its end", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			c.create(5, surge)
			c.Settle()
			c.SetImage("nginx:2")
			c.FailBefore(fixture.Fail("create pods", fixture.ErrQuota))
			for range 20 {
				if _, _, err := c.ReconcileOnce(); err != nil && !apierrors.IsForbidden(fixture.FirstStatus(err)) {
					t.Fatal(err)
				}
				c.KubeletStep()
			}
			if status := c.get().Status; status.UpdatedReadyReplicas != 5 || status.CurrentRevision != status.UpdateRevision {
				t.Errorf("status %+v", status)
			}
		})
	})
}
