// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestController plays whole stories with nothing but events to drive the controller.
func TestController(t *testing.T) {
	const claims = `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`
	image := func(image string) func(*cluster) { return func(c *cluster) { c.SetImage(image) } }
	edit := func(patch string) func(*cluster) { return func(c *cluster) { c.Edit(patch) } }
	for _, test := range []struct {
		name  string
		setup string
		steps []func(*cluster)
	}{
		{"creation", "", nil},
		{"creation with claims", claims, nil},
		{"scale out and in", "", []func(*cluster){edit(`{"spec":{"replicas":9}}`), edit(`{"spec":{"replicas":2}}`), edit(`{"spec":{"replicas":0}}`)}},
		{"updates in place with a short history", `{"spec":{"revisionHistoryLimit":1,"updateStrategy":{"type":"InPlaceIfPossible"}}}`,
			[]func(*cluster){image("nginx:2"), image("nginx:3"), image("nginx:4"), image("nginx:2")}},
		{"updates by recreation with a short history", `{"spec":{"revisionHistoryLimit":0}}`, []func(*cluster){image("nginx:2"), image("nginx:3")}},
		{"an update with surge, and back in the middle", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":0,"maxSurge":1,"partition":2}}}`,
			[]func(*cluster){image("nginx:2"), image("nginx:1"), edit(`{"spec":{"updateStrategy":{"partition":0}}}`)}},
		{"a grace period", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","inPlaceUpdateStrategy":{"gracePeriodSeconds":3}}}}`, []func(*cluster){image("nginx:2")}},
		{"minReadySeconds", `{"spec":{"minReadySeconds":7,"updateStrategy":{"type":"InPlaceIfPossible","maxUnavailable":3}}}`, []func(*cluster){image("nginx:2")}},
		{"hooks", `{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}},"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}},
			"updateStrategy":{"type":"InPlaceIfPossible"},"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`, []func(*cluster){
			image("nginx:2"),
			func(c *cluster) { c.LabelPods("hold", "false") },
			func(c *cluster) { c.LabelPods("hold", "true") },
			edit(`{"spec":{"replicas":3}}`),
			func(c *cluster) { c.LabelPods("hold", "false") },
		}},
		{"pods deleted by the user", claims, []func(*cluster){
			func(c *cluster) { c.DeletePod(c.PodNames()[0]) },
			func(c *cluster) { c.DeletePod(c.PodNames()[1]); c.DeletePod(c.PodNames()[2]) },
			func(c *cluster) {
				c.PatchPod(c.PodNames()[3], `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
			},
			func(c *cluster) {
				c.Edit(`{"spec":{"replicas":4,"scaleStrategy":{"podsToDelete":["` + c.PodNames()[0] + `"]}}}`)
			},
		}},
		{"pods that fail", claims, []func(*cluster){
			func(c *cluster) { c.PatchPod(c.PodNames()[0], `{"status":{"phase":"Failed"}}`, "status") },
			edit(`{"spec":{"scaleStrategy":{"disablePVCReuse":true}}}`),
			func(c *cluster) { c.PatchPod(c.PodNames()[1], `{"status":{"phase":"Failed"}}`, "status") },
		}},
		{"a broken image, and its repair", `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible"}}}`, []func(*cluster){image("nginx:bad"), image("nginx:3")}},
		{"deletion", "", []func(*cluster){
			func(c *cluster) { c.Delete() },
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(5, test.setup)
				c.ExpectSettled()
				fixture.Steps(c.Cluster, p, c, test.steps)
			})
		})
	}
}

func TestBadSpec(t *testing.T) {
	t.Run("a bad spec is reported once, and no pod is touched", func(t *testing.T) {
		inCluster(t, func(t *testing.T, c *cluster) {
			p, stop := c.start()
			defer stop()
			c.create(3, "")
			c.ExpectSettled()
			before := p.Count()
			c.ForgetRequests()
			c.Edit(`{"spec":{"replicas":5,"updateStrategy":{"partition":"x"}}}`)
			c.Sleep("1h")
			if diff := cmp.Diff([]string{"1 patch clonesets/status"}, c.Sent()); diff != "" || p.Count() > before+1 {
				t.Errorf("%d reconciles, requests (-want +got):\n%s", p.Count()-before, diff)
			}
			if got := c.Conditions(); len(got) != 1 || !strings.Contains(got[0], "partition") || !strings.Contains(got[0], "FailedUpdate") {
				t.Errorf("conditions %q", got)
			}
			c.Edit(`{"spec":{"updateStrategy":{"partition":null}}}`)
			c.ExpectSettled()
			if got := c.Conditions(); len(got) > 0 || len(c.Pods()) != 5 {
				t.Errorf("%d pods, conditions %q", len(c.Pods()), got)
			}
		})
	})
}
