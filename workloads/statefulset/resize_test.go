// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/rollout"
)

// TestResize: pods are resized one after the other, and one whose node has no room, or never
// has, does not hold up those behind it.
func TestResize(t *testing.T) {
	const cpu = `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"1"}}}]}}}}`
	for _, test := range []struct {
		name, policy string
		reason       string // of web-2
		kept         []string
		requests     []string
		waits        rollout.Rule
		available    int32 // and updated
	}{
		{"IP-36: without a restart", "InPlaceIfPossible", "", []string{"web-0", "web-1", "web-2", "web-3"},
			[]string{"1 create controllerrevisions", "8 patch pods", "4 patch pods/resize", "5 patch statefulsets/status"}, "", 4},
		{"IP-38: one is deferred", "InPlaceIfPossible", corev1.PodReasonDeferred, []string{"web-0", "web-1", "web-2", "web-3"}, nil, rollout.RuleResizeDeferred, 4},
		{"IP-39: one is infeasible, and is recreated", "InPlaceIfPossible", corev1.PodReasonInfeasible, []string{"web-0", "web-1", "web-3"}, nil, "", 4},
		{"IP-39: one is infeasible, and waits", "InPlaceOnly", corev1.PodReasonInfeasible, []string{"web-0", "web-1", "web-2", "web-3"}, nil, rollout.RuleInPlaceOnly, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.options.Features.InPlaceResize = true
				c.restart()
				c.create(4, spec(c, cpu, `{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"`+test.policy+`"}}}}`))
				c.Settle()
				before := map[string]string{}
				for _, pod := range c.Pods() {
					before[pod.Name] = string(pod.UID)
				}
				old := before["web-2"]
				c.Kubelet.Resize = func(pod *corev1.Pod) string {
					if string(pod.UID) == old {
						return test.reason
					}
					return ""
				}
				c.Settle() // kubelets report what containers have
				c.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":"2"}}}]}}}}`)
				requests := c.Settle()
				if test.requests != nil {
					if diff := cmp.Diff(test.requests, requests); diff != "" {
						t.Errorf("requests (-want +got):\n%s", diff)
					}
				}
				var kept []string
				for _, pod := range c.Pods() {
					if before[pod.Name] == string(pod.UID) {
						kept = append(kept, pod.Name)
					}
					if got := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); got != "2" {
						t.Errorf("pod %s asks for cpu %s", pod.Name, got)
					}
				}
				if diff := cmp.Diff(test.kept, kept); diff != "" {
					t.Errorf("the same pods (-want +got):\n%s", diff)
				}
				if status := c.get().Status; status.AvailableReplicas != 4 || status.UpdatedAvailableReplicas != test.available ||
					(status.CurrentRevision == status.UpdateRevision) != (test.available == 4) {
					t.Errorf("status %+v", status)
				}
				waits := slices.ContainsFunc(c.plan().Waiting, func(w rollout.Wait) bool { return w.Reason.Rule == test.waits && w.Pod.Name == "web-2" })
				if waits != (test.waits != "") || test.waits == "" && len(c.plan().Waiting) > 0 {
					t.Errorf("waits %v", c.plan().Waiting)
				}
			})
		})
	}
}
