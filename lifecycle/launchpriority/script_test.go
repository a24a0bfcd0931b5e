// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. Nothing but events drives the controller once it is started. The
// option "release" is that of OpenKruise. "pod main=0 log=5" creates the pod web, of containers with priorities that start, and do not
// become ready. "ready" and "unready" change that of some. "work" has kubelet and controller work until they have settled. "begin" has
// the kubelet report that it has begun, and no more. "config-map former p_5" is one that a user makes, of an owner, and "no-config-map"
// deletes it. "state" shows containers and keys.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", configMaps, func(s *fixture.Cluster) *fixture.Story {
		c := newCluster(s)
		pods := map[types.UID]int{}
		quiet := func(act func(words []string)) func(...string) string {
			return func(words ...string) string { act(words); synctest.Wait(); return "" }
		}
		return &fixture.Story{Stable: true, Restart: c.Restart, Start: func() (*fixture.Reconciles, func()) { return c.Run() },
			Option: func(_, release string) { c.Options.Features = FeaturesOf(podwright.Release(release)) },
			Further: map[string]func(...string) string{
				"pod":           quiet(func(words []string) { pods[c.create(words).UID] = len(pods) + 1 }),
				"ready":         quiet(func(words []string) { c.image(words, "good") }),
				"unready":       quiet(func(words []string) { c.image(words, "bad") }),
				"work":          quiet(func([]string) { c.settle() }),
				"begin":         quiet(func([]string) { c.begin() }),
				"config-map":    quiet(func(words []string) { c.createConfigMap(types.UID(words[0]), words[1:]...) }),
				"no-config-map": quiet(func([]string) { c.deleteConfigMap() }),
				"state": func(...string) string {
					out := fmt.Sprintf("containers: %s\nkeys: %s\n", c.states(), c.keys())
					if configMap := c.configMap(); configMap != nil && len(configMap.OwnerReferences) > 0 {
						out += fmt.Sprintf("of pod %d\n", pods[configMap.OwnerReferences[0].UID])
					}
					if c.marked() {
						out += "marked\n"
					}
					return out
				},
			}}
	})
}
