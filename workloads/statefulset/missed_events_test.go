// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"
)

// TestMissesNoEvent has users change a StatefulSet at random, amid stale caches,
// lost answers and failing pods. Once all is calm, everything must be as the
// spec says. A seed that failed plays the same story again.
func TestMissesNoEvent(t *testing.T) {
	changes := []func(*rand.Rand) string{
		simulation.Pick(`{"spec":{"replicas":%v}}`, 0, 1, 2, 3, 5),
		simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, "bad"),
		simulation.Pick(`{"spec":{"reserveOrdinals":%v}}`, "[]", "[0]", "[1,3]"),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":%v}}}}`, 0, 2),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"%v"}}}}`, "ReCreate", "InPlaceIfPossible"),
		simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":%v}}}}`, true, false),
		simulation.Pick(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"%v"}}}`, "Retain", "Delete"),
		simulation.Pick(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"%v"}}}`, "Retain", "Delete"),
		simulation.Pick(`{"metadata":{"annotations":{"a":"%v"}}}`, 1, 2),
	}
	for seed := range uint64(4) {
		policy := []string{"OrderedReady", "Parallel"}[seed%2]
		t.Run(fmt.Sprint("seed ", seed, ", ", policy), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(3, spec(c, withClaims, `{"spec":{"podManagementPolicy":"`+policy+`"}}`))
				happened := c.Simulate(seed, 30, changes)
				c.Edit(`{"spec":{"replicas":4,"template":{"spec":{"containers":[{"name":"main","image":"nginx:4"}]}},
					"updateStrategy":{"rollingUpdate":{"partition":0,"paused":false}}}}`)
				before := p.Count()
				for range 3 { // one may be short for OrderedReady
					c.Minute()
				}
				c.ExpectSettled()
				c.whole()
				if got := c.Conditions(); len(got) > 0 || p.Count() > before+5000 {
					t.Errorf("%d reconciles, conditions %q", p.Count()-before, got)
				}
				for _, err := range p.Errors() {
					if strings.Contains(err.Error(), "panic") {
						t.Error(err)
					}
				}
				if t.Failed() {
					t.Logf("pods %v, claims %v, what happened:\n%s", c.images(), c.claims(), strings.Join(happened, "\n"))
				}
			})
		})
	}
}
