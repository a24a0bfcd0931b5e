// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"
)

// STS-29: a pod that is not available holds up those behind it, and the status says which one and why.
func TestHeldUp(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(3, "")
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.Edit(`{"spec":{"replicas":5}}`)
		c.Sleep("1s")
		c.PatchPod("web-3", `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes have room"}]}}`, "status")
		c.ExpectHeldUp("Unschedulable: pod web-3 (and web-4): 0/3 nodes have room; podManagementPolicy OrderedReady: pod web-3 is not available")
		c.Edit(`{"spec":{"replicas":3}}`)
		c.Settle()
		if got := c.HeldUp(); got != "" {
			t.Errorf("after it is over: %s", got)
		}
	})
}

// STS-30: claims that ask for less than their template are named, for they stay as they are.
func TestHeldUpByClaims(t *testing.T) {
	sized := func(size string) string {
		return `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"resources":{"requests":{"storage":"` + size + `"}}}}]}}`
	}
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, sized("1Gi"))
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.Edit(sized("2Gi"))
		c.ExpectHeldUp("ClaimTooSmall: claim data-web-0: it asks for 1Gi, and claim template data for 2Gi: claims that are there stay as they are; of 2 claims")
		for _, claim := range []string{"data-web-0", "data-web-1"} {
			c.patchClaim(claim, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		}
		c.Sleep("1s")
		if got := c.HeldUp(); got != "" {
			t.Errorf("after a user has enlarged the claims: %s", got)
		}
	})
}

// STS-29: a stored hook of a label that no pod can have is told, with its field and its value.
func TestHeldUpByAHook(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.create(2, "")
		c.Settle()
		_, stop := c.start()
		defer stop()
		c.Edit(`{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold me":"true"}}}}}`)
		c.Sleep("2m")
		if got, want := c.HeldUp(), "BadValue: spec.lifecycle.preDelete.labelsHandler[hold me] is hold me: no pod can have this label: "; !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		c.Edit(`{"spec":{"lifecycle":null}}`)
		if c.Sleep("1m"); c.HeldUp() != "" {
			t.Errorf("without the hook: %s", c.HeldUp())
		}
	})
}
