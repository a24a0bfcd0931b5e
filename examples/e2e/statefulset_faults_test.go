// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
)

// A start in order is finished in order by the next manager: no pod twice, none before those below it serve.
func testManagerIsKilledInMidStart(t *testing.T, b *bed) {
	s := b.statefulSetFixture(t)
	s.create(statefulSet(6, s.spec(orderedInPlace), s.spec(dataClaims), mainImage("web:2")))
	s.killManagerAt(moments(t, []int{1, 3}))
	s.awaitSettled("web")
	var wanted, claims []string
	for i := range 6 {
		wanted = append(wanted, fmt.Sprintf("create web-%d", i), fmt.Sprintf("serve web-%d", i))
		claims = append(claims, fmt.Sprintf("data-web-%d", i))
	}
	s.acted("STS-8", 0, wanted...)
	s.awaitClaims("STS-5: one for every pod", claims)
}

func testManagerIsKilledInMidUpdateOfAStatefulSet(t *testing.T, b *bed) {
	s := b.statefulSetFixture(t)
	s.run(statefulSet(10, s.spec(parallelInPlace), s.spec(dataClaims)))
	before, claims := s.owned("web"), s.Claims.All()
	s.expect("web", 8, 10)
	s.edit("web", mainImage("web:2"))
	s.killManagerAt(moments(t, []int{1, 3, 5}))
	s.awaitSettled("web")
	s.keptBudget("web")
	s.updatedInPlace(before)
	s.startedInOrder(10, 2)
	s.keptClaims(claims)
}
