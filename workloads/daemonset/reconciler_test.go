// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// numbers are SetMetrics that remember the last ones.
type numbers map[types.NamespacedName]string

func (n numbers) Counted(set types.NamespacedName, s *v1alpha1.DaemonSetStatus) {
	n[set] = fmt.Sprint(s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberMisscheduled)
}
func (n numbers) Gone(set types.NamespacedName) { delete(n, set) }

// The numbers of a DaemonSet are measured while it exists, also by a manager that starts when nothing happens. (DS-19.1)
func TestSetMetrics(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		measured := numbers{}
		c.Options.SetMetrics = measured
		c.Restart()
		c.AddNodes(newNodes(4)...)
		c.Create(testSet("web"), `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}}}}`)
		c.Settle()
		c.SetImage("nginx:2")
		c.Settle()
		for _, pod := range c.Pods() {
			if scheduler.NodeOf(&pod) == "n2" {
				c.PatchPod(pod.Name, `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
			}
		}
		c.MustReconcile()
		c.PatchNode("n1", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
		c.MustReconcile()
		s := c.get().Status
		want := fmt.Sprint(s.DesiredNumberScheduled, s.CurrentNumberScheduled, s.NumberReady, s.UpdatedNumberScheduled, s.NumberMisscheduled)
		if s.DesiredNumberScheduled != 3 || s.NumberReady != 2 || s.UpdatedNumberScheduled != 1 || s.NumberMisscheduled != 1 || measured[web] != want {
			t.Errorf("DS-19.1: measured %q of the status %+v", measured[web], s)
		}
		clear(measured)
		c.Restart()
		c.MustReconcile()
		if measured[web] != want {
			t.Errorf("DS-19.1: measured %q after a restart, want %q", measured[web], want)
		}
		c.Must(c.sets.Delete(t.Context(), web.Name, metav1.DeleteOptions{}))
		synctest.Wait()
		c.MustReconcile()
		if len(measured) != 0 {
			t.Errorf("DS-19.1: measured %v of a DaemonSet that is gone", measured)
		}
	})
}
