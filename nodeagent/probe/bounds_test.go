// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/podwright/podwright/internal/testing/fakecri/agents"
)

// PPM-4.10: commands of others that do not end, of which there is one for every slot and more, keep no probe from being run.
func TestCommandsOfOthersThatDoNotEnd(t *testing.T) {
	var changes []change
	for i := range 30 {
		changes = append(changes, wants("evil/evil", fmt.Sprint("hang", i), "every=1", "timeout=1073741824"))
	}
	changes = append(changes, wants("web-0", "idle", "every=1"))
	agents.Play(t, func(t *testing.T) *node { return newNode(t, changes...) }, func(n *node) {
		n.exits("main-1", -1)
		n.run("evil/evil")
		n.run("web-0")
		n.start()
		n.Sleep(30 * time.Second)
		n.exits("main-2", 1)
		n.Sleep(5 * time.Second)
		if got := n.status(); !strings.Contains(got, "web-0 idle Failed") {
			n.Errorf("five seconds after the container has failed: %s", got)
		}
		const waits = " Unknown (the probe has not been run for 2m0s, 5 of its periods or more: 10 probes are under way, of evil (10))"
		n.Sleep(95 * time.Second) // the last ten have not had their first turn
		if got := n.status(); strings.Count(got, waits) < 5 {
			n.Errorf("PPM-4.12: those that wait for their first turn do not say for whom: %s", got)
		}
		n.Sleep(8 * time.Minute)
		n.exits("main-2", 0)
		n.Sleep(5 * time.Second)
		if got := n.status(); !strings.Contains(got, "web-0 idle Succeeded") || !strings.Contains(got, "hang7 Failed (the command did not end within 1m0s)") {
			n.Errorf("ten minutes later: %s", got)
		} else if !strings.Contains(got, waits) {
			n.Errorf("PPM-4.12: those that wait do not say for whom: %s", got)
		}
	})
}
