// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The manager is killed again and again in the midst of updates, each of which takes back the one before. There is never more
// than one pod out of service, and no node has two pods. In the end the last update is made. (DS-1, DS-3, DS-11)
func testDaemonSetsOutliveTheManager(t *testing.T, b *bed) {
	s := daemonSetFixtureOn(t, b, "node-0", "node-1", "node-2")
	defer s.revive()
	old := template("d").Spec.Containers[0].Image
	for name, how := range map[string]v1alpha1.RollingUpdateType{"d": v1alpha1.StandardRollingUpdateType, "e": v1alpha1.InplaceRollingUpdateType} {
		s.create(s.daemonSet(name, func(set *v1alpha1.DaemonSet) { set.Spec.UpdateStrategy.RollingUpdate.Type = how }))
		s.awaitOn(name, "node-0 "+old, "node-1 "+old, "node-2 "+old)
	}
	begun := len(s.history.Changes())
	image := ""
	for i := range 6 {
		image = fmt.Sprintf("shop:v%d", i%3+2)
		before := len(s.history.Changes())
		for _, name := range []string{"d", "e"} {
			s.edit(name, setImageOfDaemonSet(image))
		}
		s.Await("some pods have changed", func() string {
			if n := len(s.history.Changes()) - before; n <= i {
				return fmt.Sprintf("%d changes", n)
			}
			return ""
		})
		b.Manager.Kill()
		if err := b.Manager.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"d", "e"} {
		s.awaitOn(name, "node-0 "+image, "node-1 "+image, "node-2 "+image)
		s.keptNodes(name, begun)
	}
}

// keptNodes fails if more than one of three nodes had no ready pod of a set, or one had two, at any moment.
func (s *daemonSetFixture) keptNodes(set string, since int) {
	s.Helper()
	podhistory.Replay(s.history.Changes(), since, func(all map[types.UID]*corev1.Pod, last podhistory.Change) {
		serving, there := 0, map[string]int{}
		for _, pod := range all {
			if pod.Labels["app"] != set || pod.DeletionTimestamp != nil {
				continue
			}
			if pod.Spec.NodeName != "" {
				there[pod.Spec.NodeName]++
			}
			if ready(pod) {
				serving++
			}
		}
		if serving < 2 {
			s.Errorf("DS-11: %d pods of %s serve after %v, maxUnavailable is 1 of 3", serving, set, last)
		}
		for node, n := range there {
			if n > 1 {
				s.Errorf("DS-3: %s has %d pods of %s after %v", node, n, set, last)
			}
		}
	})
}
