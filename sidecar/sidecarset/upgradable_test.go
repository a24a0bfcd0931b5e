// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// The controller puts right what another client changes about the condition. It removes what a SidecarSet has said that is gone, in one
// request for each pod. (SCS-33)
func TestUpgradableConditionOfOthers(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create("{}", "web-a", "web-b")
		sets := connect(c.Cluster, "user").SidecarSets()
		_, err := sets.Create(t.Context(), newSet(t, "other"), metav1.CreateOptions{})
		c.Must(err)
		_, stop := c.start(func(o *Options) { o.Features.UpgradableCondition = true })
		defer stop()
		c.Minute()
		c.Edit(`{"spec":{"containers":[{"name":"log","image":"log:1","args":["x"]}]}}`)
		c.Minute()
		expect := func(what, want string, requests int) {
			t.Helper()
			for _, pod := range c.Pods() {
				got := "none"
				if condition := readiness.Condition(&pod, v1alpha1.SidecarSetUpgradable); condition != nil {
					got = string(condition.Status) + " " + condition.Message
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("SCS-33: %s: pod %s (-want +got):\n%s", what, pod.Name, diff)
				}
			}
			if n := c.Count("controller")["patch pods/status"]; n != requests {
				t.Errorf("SCS-33: %s: %d requests, want %d", what, n, requests)
			}
			c.ForgetRequests()
		}
		expect("args change", `False {"web":false}`, 2)
		say := func(message string) {
			for _, pod := range c.Pods() {
				c.PatchPod(pod.Name, `{"status":{"conditions":[{"type":"SidecarSetUpgradable","status":"False","message":"`+message+`"}]}}`, "status")
			}
			c.Minute()
		}
		say(`{}`)
		expect("another client writes it", `False {"web":false}`, 2)
		say(`{\"other\":false,\"web\":false}`)
		expect("the other one says something, too", `False {"other":false,"web":false}`, 0)
		c.Must(sets.Delete(t.Context(), "other", metav1.DeleteOptions{}))
		c.Minute()
		expect("the other one is gone", `False {"web":false}`, 2)
		c.Minute()
		expect("nothing happens", `False {"web":false}`, 0)
	})
}
