// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBadSpec(t *testing.T) {
	for _, test := range []struct{ bad, good, says string }{
		{`{"spec":{"replicas":5,"updateStrategy":{"rollingUpdate":{"maxUnavailable":"x"}}}}`, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":null}}}}`, "maxUnavailable"},
		{`{"spec":{"replicas":-1}}`, `{"spec":{"replicas":5}}`, "spec.replicas"},
		{`{"spec":{"replicas":5,"selector":null}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`, "spec.selector"},
		{`{"spec":{"replicas":5,"selector":{"matchLabels":null}}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`, "spec.selector"},
	} {
		t.Run("a bad spec is reported once, and no pod is touched: "+test.bad, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(3, withParallel)
				c.ExpectSettled()
				before := p.Count()
				c.ForgetRequests()
				c.Edit(test.bad)
				c.Sleep("1h")
				if diff := cmp.Diff([]string{"1 patch statefulsets/status"}, c.Sent()); diff != "" || p.Count() != before+1 {
					t.Errorf("%d reconciles, requests (-want +got):\n%s", p.Count()-before, diff)
				}
				if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedUpdatePod: ") || !strings.Contains(got[0], test.says) {
					t.Errorf("conditions %q", got)
				}
				c.Edit(test.good)
				c.ExpectSettled()
				c.whole()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
}
