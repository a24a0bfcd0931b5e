// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/simulation"

	corev1 "k8s.io/api/core/v1"
)

// TestMissesNoEvent has users change a CloneSet at random, amid stale caches, lost
// answers and failing pods. Once all is calm, everything must be as the spec
// says. A seed that failed plays the same story again.
func TestMissesNoEvent(t *testing.T) {
	changes := []func(*rand.Rand) string{
		simulation.Pick(`{"spec":{"replicas":%v}}`, 0, 1, 2, 3, 5),
		simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, "bad"),
		simulation.Pick(`{"spec":{"updateStrategy":{"partition":%v}}}`, 0, 2),
		simulation.Pick(`{"spec":{"updateStrategy":{"maxSurge":%v}}}`, 0, 1),
		simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "ReCreate", "InPlaceIfPossible"),
		simulation.Pick(`{"spec":{"updateStrategy":{"paused":%v}}}`, true, false),
		simulation.Pick(`{"spec":{"scaleStrategy":{"disablePVCReuse":%v}}}`, true, false),
		simulation.Pick(`{"metadata":{"annotations":{"a":"%v"}}}`, 1, 2),
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(3, `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`)
				happened := c.Simulate(seed, 30, changes)
				c.Edit(`{"spec":{"replicas":4,"template":{"spec":{"containers":[{"name":"main","image":"nginx:4"}]}},
					"updateStrategy":{"partition":0,"paused":false}}}`)
				for range 2 {
					c.Minute()
				}
				c.ExpectSettled()
				active := slices.DeleteFunc(c.Pods(), func(pod corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
				if s := c.get().Status; s.UpdatedReadyReplicas != 4 || s.Replicas != 4 || len(active) != 4 || len(c.Conditions()) > 0 {
					t.Errorf("%d pods, conditions %q, status %+v", len(active), c.Conditions(), s)
				}
				for _, err := range p.Errors() {
					if strings.Contains(err.Error(), "panic") {
						t.Error(err)
					}
				}
				if t.Failed() {
					t.Logf("pods %v, what happened:\n%s", c.PodNames(), strings.Join(happened, "\n"))
				}
			})
		})
	}
}
