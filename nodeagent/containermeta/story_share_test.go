// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A namespace whose containers do not end leaves workers to others, and gets its turn. (CM-6)
func TestStoryShare(t *testing.T) {
	play(t, func(n *node) {
		n.options.RestartWorkers = 4
		n.start()
		stops := 0
		n.runtime.FailWith(func(method string) error {
			if method == "StopContainer" {
				stops++
			}
			return nil
		})
		names := []string{"web-0", "web-1", "web-2", "web-3", "web-4"}
		for i, name := range names {
			n.create(newPod(name))
			n.runtime.SetEndsAfter(fmt.Sprintf("main-%d", 2*i+1), 25*time.Second)
		}
		n.sleep("10s")
		for _, name := range names {
			n.update(name, "2")
		}
		n.sleep("10s")
		if stops != 3 {
			n.Errorf("of a namespace with 5 pods %d are being restarted, want 3 of 4 workers", stops)
		}
		waits := func() (events []string) {
			for _, event := range n.events.All() {
				if strings.Contains(event, "RestartWaits") {
					events = append(events, event)
				}
			}
			return events
		}
		n.want("CM-6: no event of a short wait", nil, waits())
		n.sleep("5s")
		const told = "Normal RestartWaits: The restart of main, whose environment comes from labels or annotations that have changed, waits for a worker of the node agent: " +
			"containers of other pods are being stopped, of default (3)"
		n.want("CM-6: whom the others wait for", []string{told, told}, waits())
		n.sleep("1m")
		n.want("CM-6: once", []string{told, told}, waits())
		if stops != len(names) {
			n.Errorf("then %d have been restarted, want all 5", stops)
		}
	})
}
