// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
)

// WS-34: how many pods are wanted stands at paths, and a change there is seen.
func TestReplicasPaths(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 2)
		owner := c.replicaSet("web", 1, 10)
		c.createSpread("web", "targetFilter: {replicasPathList: [spec.minReadySeconds, spec.replicas]}\nsubsets: [{name: a, maxReplicas: 50%}, {name: b}]")
		at := func(seconds, want string) {
			t.Helper()
			c.change("apps/v1/namespaces/default/deployments/web", `{"spec":{"minReadySeconds":`+seconds+`}}`)
			c.Sleep("20s")
			if got := c.show("web"); got != want {
				t.Errorf("WS-34: %s seconds: %s, want %s", seconds, got, want)
			}
		}
		c.change("apps/v1/namespaces/default/deployments/web", `{"spec":{"minReadySeconds":4}}`)
		_, stop := c.start()
		at("4", "a has 0, misses 3; b has 0")
		at("8", "a has 0, misses 5; b has 0")
		p := c.placer()
		for _, want := range []string{"a", "a", "a", "a", "a", "b"} {
			if got := c.admit(p, generated(owner)); got != want {
				t.Errorf("WS-34: a pod goes to %q, want %q", got, want)
			}
		}
		c.change("apps/v1/namespaces/default/deployments/web", `{"spec":{"minReadySeconds":null}}`)
		c.Sleep("1s")
		err := p.Mutate(t.Context(), &admissionv1.AdmissionRequest{Operation: admissionv1.Create, Namespace: "default"}, generated(owner))
		if err == nil || !strings.Contains(err.Error(), `has no "minReadySeconds"`) {
			t.Errorf("WS-34: a percentage of nothing: %v", err)
		}
		c.change("apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web", `{"spec":{"subsets":[{"name":"a","maxReplicas":9},{"name":"b"}]}}`)
		c.Sleep("1s")
		if got := c.admit(p, generated(owner)); got != "a" {
			t.Errorf("WS-34: without percentages a pod goes to %q, want a", got)
		}
		stop()
	})
}

// What OpenKruise 1.9 has counted by versions is taken out of the status. (WS-20)
func TestVersionedStatusIsEmptied(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.deployment("web", 2)
		c.createSpread("web", twoLimits)
		_, stop := c.start()
		c.Sleep("5s")
		const path = "apps.kruise.io/v1alpha1/namespaces/default/workloadspreads/web/status"
		c.change(path, `{"status":{"versionedSubsetStatuses":{"1":[{"name":"a","replicas":1,"missingReplicas":2}]}}}`)
		c.Sleep("20s")
		if left := c.spread("web").Status.VersionedSubsetStatuses; left != nil {
			t.Errorf("WS-20: it still says %v", left)
		}
		stop()
	})
}
