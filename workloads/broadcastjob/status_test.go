// SPDX-License-Identifier: Apache-2.0

package broadcastjob

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// BJ-3, BJ-7: what is stored of a job that no node fits: kubectl and Argo CD read zeros, and kstatus the generation.
func TestStatusHasZeros(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.Create(testJob("web"), "")
		c.MustReconcile()
		raw, err := c.Kube.CoreV1().RESTClient().Get().AbsPath("/apis/apps.kruise.io/v1alpha1/namespaces", web.Namespace, "broadcastjobs", web.Name).DoRaw(t.Context())
		c.Must(err)
		var stored struct{ Status map[string]any }
		c.Must(json.Unmarshal(raw, &stored))
		delete(stored.Status, "startTime")
		want := map[string]any{"observedGeneration": 1.0, "phase": "running", "desired": 0.0, "active": 0.0, "succeeded": 0.0, "failed": 0.0}
		if diff := cmp.Diff(want, stored.Status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	})
}
