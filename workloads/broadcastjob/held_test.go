// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// BJ-31: a pod that cannot be created holds up the job.
func TestHeldUpByAMissingPod(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.addNodes("n1")
		c.FailBefore(func(r fakecluster.Request) error {
			if r.String() == "create pods" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("exceeded quota"))
			}
			return nil
		})
		_, stop := c.start()
		defer stop()
		c.Create(testJob("web"), `{}`)
		c.Sleep("30s")
		if got := c.HeldUp(); got != "" {
			t.Errorf("before a minute is over: %s", got)
		}
		c.Sleep("10m")
		if got, want := c.HeldUp(), "PodMissing: node n1: the pod cannot be created, events say why"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		c.FailBefore(nil)
		c.Sleep("10m")
		c.nodeStep()
		if c.Sleep("2m"); c.HeldUp() != "" {
			t.Errorf("once it is created: %s", c.HeldUp())
		}
	})
}
