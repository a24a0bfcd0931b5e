// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// allBut is a budget that denies the update of one pod.
type allBut struct {
	denied string
	asked  int // about that
}

func (b *allBut) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	if pod.Name == b.denied {
		b.asked++
	}
	return pod.Name != b.denied, nil
}

// TestRefusedBesideADeniedUpdate: CT-3, CT-10. A budget that denies one pod is asked once a second. The recreations of the others, which it
// allows and the API server refuses, are not tried as often for that.
func TestRefusedBesideADeniedUpdate(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		budget := &allBut{}
		c.options.Budget = budget
		c.addNodes(nodeNames(3)...)
		c.Create(testSet("web"), "")
		_, stop := c.start()
		defer stop()
		c.Minute()
		budget.denied = c.PodNames()[0]
		for _, pod := range c.PodNames() {
			c.PatchPod(pod, `{"metadata":{"annotations":{"kruise.io/related-pub":"web"}}}`)
		}
		c.FailBefore(func(r fakecluster.Request) error {
			if r.User == fixture.ControllerUser && r.String() == "delete pods" {
				return fixture.ErrQuota
			}
			return nil
		})
		c.ForgetRequests()
		c.SetImage("nginx:2")
		c.Sleep("1h")
		if sent := c.Count(fixture.ControllerUser); sent["delete pods"] > 30*2 || sent["delete pods"] < 10 {
			t.Errorf("in an hour %v", c.Sent())
		}
		if budget.asked < 3000 {
			t.Errorf("the budget was asked %d times in an hour about the pod that it denies", budget.asked)
		}
	})
}
