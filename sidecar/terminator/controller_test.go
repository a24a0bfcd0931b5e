// SPDX-License-Identifier: Apache-2.0

package terminator

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// A reconcile comes too late, or is about a pod that is none of its concern: it does nothing. (ST-5)
func TestPodThatIsGone(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("gone", "OnFailure main: a=r:", "0")
		c.create("other", "OnFailure main: a:")
		controller, err := New(Options{Kubernetes: c.Client(fixture.ControllerUser), Lifecycle: lifecycleClient(c.Cluster, fixture.ControllerUser)})
		c.Must(err)
		defer c.Start(controller.Run)()
		c.Sleep("1s")
		c.RemovePod("gone")
		c.Sleep("1s")
		c.ForgetRequests()
		for _, name := range []string{"gone", "other", "never"} {
			key := types.NamespacedName{Namespace: fixture.Web.Namespace, Name: name}
			if after, err := controller.Reconcile(t.Context(), key); after != 0 || err != nil {
				t.Errorf("%s: again after %s, error %v", name, after, err)
			}
			if plan, err := controller.Plan(t.Context(), key); plan != nil || err != nil {
				t.Errorf("%s: plan %v, error %v", name, plan, err)
			}
			if s, err := controller.Snapshot(t.Context(), key); s != nil || err != nil {
				t.Errorf("%s: snapshot %v, error %v", name, s, err)
			}
		}
		if sent := c.Sent(); len(sent) > 0 {
			t.Errorf("requests %v", sent)
		}
	})
}
