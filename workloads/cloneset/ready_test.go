// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestPodThatIsReadyByNow: a pod that goes first because it is not ready stays
// if it has become ready, and no cache shows it yet.
func TestPodThatIsReadyByNow(t *testing.T) {
	for _, test := range []struct {
		name   string
		change string
	}{
		{"CS-22: a marked pod", `{"spec":{"scaleStrategy":{"podsToDelete":[%q]}}}`},
		{"CS-23: scaling in", `{"spec":{"replicas":2}}`},
		{"CS-31: recreation", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:2"}]}}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(3, `{"spec":{"updateStrategy":{"maxUnavailable":1}}}`)
				c.Settle()
				pod := c.PodNames()[1]
				ready := func(status string) {
					c.PatchPod(pod, fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q}]}}`, status), "status")
				}
				ready("False")
				c.Hold("pods")
				ready("True")
				if strings.Contains(test.change, "%q") {
					test.change = fmt.Sprintf(test.change, pod)
				}
				c.Edit(test.change)
				_, _, err := c.ReconcileOnce()
				if !apierrors.IsConflict(fixture.FirstStatus(err)) {
					t.Errorf("error %v, want a conflict", err)
				}
				if n := len(c.Pods()); n != 3 {
					t.Errorf("%d pods", n)
				}
				if c.Events.Count("FailedDelete")+c.Events.Count("FailedUpdatePodReCreate") > 0 || len(c.Conditions()) > 0 {
					t.Errorf("events %q, conditions %q", c.Events.All(), c.Conditions())
				}
				c.Release("pods")
				c.Settle()
			})
		})
	}
}
