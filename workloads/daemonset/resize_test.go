// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// TestResize: pods are resized in place, and one whose node has no room, or never has, does not
// hold up the others.
func TestResize(t *testing.T) {
	const cpu = `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":1}},` +
		`"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"1"}}}]}}}}`
	for _, test := range []struct {
		name   string
		reason string // of the pod of node n2
		kept   []string
		waits  rollout.Rule
	}{
		{"IP-36: without a restart", "", []string{"n1", "n2", "n3"}, ""},
		{"IP-38: one is deferred", corev1.PodReasonDeferred, []string{"n1", "n2", "n3"}, rollout.RuleResizeDeferred},
		{"IP-39: one is infeasible, and is recreated", corev1.PodReasonInfeasible, []string{"n1", "n3"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.options.Features.InPlaceResize = true
				c.restart()
				c.addNodes("n1", "n2", "n3")
				old := map[string]string{}
				c.Kubelet.Resize = func(pod *corev1.Pod) string {
					if pod.Spec.NodeName == "n2" && string(pod.UID) == old["n2"] {
						return test.reason
					}
					return ""
				}
				c.Create(testSet(web.Name), cpu)
				c.Settle()
				for _, pod := range c.Pods() {
					old[pod.Spec.NodeName] = string(pod.UID)
				}
				c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"2"}}}]}}}}`)
				c.Settle()
				var kept []string
				for _, pod := range c.Pods() {
					if old[pod.Spec.NodeName] == string(pod.UID) {
						kept = append(kept, pod.Spec.NodeName)
					}
					if got := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "2" {
						t.Errorf("pod of node %s asks for cpu %s", pod.Spec.NodeName, got)
					}
				}
				slices.Sort(kept)
				if diff := cmp.Diff(test.kept, kept); diff != "" {
					t.Errorf("the same pods (-want +got):\n%s", diff)
				}
				if status := c.get().Status; status.NumberAvailable != 3 || status.UpdatedNumberScheduled != 3 {
					t.Errorf("status %+v", status)
				}
				plan, err := c.reconciler.Plan(context.Background(), web)
				c.Must(err)
				waits := slices.ContainsFunc(plan.Waiting, func(w rollout.Wait) bool { return w.Reason.Rule == test.waits && w.Pod.Spec.NodeName == "n2" })
				if waits != (test.waits != "") || test.waits == "" && len(plan.Waiting) > 0 {
					t.Errorf("waits %v", plan.Waiting)
				}
			})
		})
	}
}
