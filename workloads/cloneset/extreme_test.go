// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"testing"
)

// One tenant's CloneSet must not stop the cache of all others. Without care a decoder works on such a quantity for hours, and the test runs out of
// time.
func TestExtremeQuantities(t *testing.T) {
	for _, quantity := range []string{"1e-100000000", "1e2147483647"} {
		t.Run("cache "+quantity, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				c.create(1, "")
				c.Edit(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","resources":{"requests":{"cpu":%q}}}]}}}}`, quantity))
				requests, _, err := c.ReconcileOnce()
				if err != nil {
					t.Errorf("%v, %v", requests, err)
				}
			})
		})
	}
}
