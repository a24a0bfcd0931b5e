// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestScripts plays what happens to PodProbeMarkers, each file in a cluster of its own. Shown are the writes of both controllers, what
// the agents are to probe, and the pods. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	node n1                  creates a node
//	pod n1 web-0 web         creates a pod on a node, with a label app
//	mark games web           creates a marker of pods with that label, with the probe idle
//	agent n1 Succeeded       has the agent of a node report a state of all that it probes
//	unmark games             deletes a marker
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		play(t, func(c *cluster) {
			pods := map[string]bool{}
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				var args []string
				for _, a := range d.CmdArgs {
					args = append(args, a.Key)
				}
				switch d.Cmd {
				case "node":
					c.addNode(args[0])
				case "pod":
					c.addPod(args[0], args[1], args[2])
					pods[args[1]] = true
				case "mark":
					c.mark(args[0], args[1], idle)
				case "agent":
					c.agent(args[0], v1alpha1.ProbeState(args[1]))
				case "unmark":
					c.must(c.markers.Delete(c.Context(), args[0], metav1.DeleteOptions{}))
				default:
					t.Fatalf("unknown command %s", d.Cmd)
				}
				c.pause(time.Second)
				lines := c.sent()
				for _, probed := range c.probed() {
					lines = append(lines, "probes "+probed)
				}
				for _, name := range []string{"web-0", "web-1", "db-0"} {
					if pods[name] {
						lines = append(lines, name+": "+c.pod(name))
					}
				}
				return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n") + "\n"
			})
		})
	})
}
